// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.hpp"

#include <algorithm>
#include <limits>

#include "cli/report/format.hpp"
#include "cli/run/backends.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_passes = std::numeric_limits<int>::max();

/// "N" or "NAME[,EXTVER]"; which HDU that is only the file can say.
std::string checked_hdu(const std::string& text) {
  const auto comma = text.rfind(',');
  if (text.empty() || comma == 0) {
    throw UsageError("--hdu: found '" + text + "'; expected a number or NAME[,EXTVER]");
  }
  const bool negative = text.size() > 1 && text[0] == '-' &&
                        text.find_first_not_of("0123456789", 1) == std::string::npos;
  if (negative) {
    throw UsageError("--hdu: found '" + text + "'; expected a number from 0 (the primary HDU)");
  }
  if (comma != std::string::npos) {
    (void)parse_integer(
        "--hdu", text.substr(comma + 1),
        {1, std::numeric_limits<int>::max(), "an EXTVER of 1 or more behind the comma"});
  }
  return text;
}

std::string backend_names() {
  std::string names;
  for (const auto& backend : compiled_backends())
    names += (names.empty() ? "" : "|") + backend.name;
  return names;
}

std::string checked_backend(const std::string& text) {
  const auto& list = compiled_backends();
  if (std::none_of(list.begin(), list.end(), [&](const auto& b) { return b.name == text; })) {
    throw UsageError("--on: found '" + text +
                     "', which this kastor was not compiled for; expected " + backend_names());
  }
  return text;
}

/// Those that do not depend on how --on is meant.
void add_other_run_options(CommandLine& line, RunOptions& options) {
  line.integer(
      "--threads", "N", {1, most_threads, "an integer from 1 to 512"},
      [&options](std::int64_t n) { options.threads = static_cast<int>(n); },
      "CPU threads; default: OMP_NUM_THREADS, else all cores.");
  line.flag("--timings", options.timings, "Print a table of the steps on stderr.");
  line.flag("--quiet", options.quiet, "Print results only: no progress, no notes.");
}

}  // namespace

void add_run_options(CommandLine& line, RunOptions& options) {
  line.heading("Running");
  line.value(
      "--on", backend_names(),
      [&options](const std::string& text) { options.on = checked_backend(text); },
      "Where to compute; default: the fastest usable.\n"
      "The results are the same bits on all of them.");
  add_other_run_options(line, options);
}

void add_run_options(CommandLine& line, RunOptions& options, std::vector<std::string>& on) {
  line.heading("Running");
  line.values("--on", backend_names(), on,
              "Where to compute; may be given several times.\nDefault: all that are usable.");
  add_other_run_options(line, options);
}

std::vector<std::string> choose_backends(RunOptions& options, const std::vector<std::string>& on) {
  for (const auto& name : on) (void)checked_backend(name);
  std::vector<std::string> chosen;
  int rank = -1;
  for (const auto& backend : compiled_backends()) {
    if (std::find(on.begin(), on.end(), backend.name) == on.end()) continue;
    chosen.push_back(backend.name);
    if (backend.rank > rank) options.on = backend.name;
    rank = std::max(rank, backend.rank);
  }
  return chosen;
}

void add_json_flag(CommandLine& line, bool& json) {
  line.heading("Output");
  line.flag("--json", json, "Print one JSON object instead of text.");
}

void add_input_options(CommandLine& line, InputOptions& options) {
  line.positional("IMAGE", options.path, "A FITS file: plain, .gz, .bz2 or tile-compressed.");
  add_part_options(line, options.read);
}

void add_part_options(CommandLine& line, io::ReadOptions& options) {
  line.heading("Input");
  line.value(
      "--hdu", "N|NAME[,VER]",
      [&options](const std::string& text) { options.hdu = checked_hdu(text); },
      "HDU by number (0 is the primary HDU) or by EXTNAME\n"
      "and EXTVER; default: the first image with data.");
  line.integer(
      "--plane", "K", {0, largest_integer, "an integer of 0 or more"},
      [&options](std::int64_t plane) { options.plane = plane; },
      "Plane of a cube, counted from 0; needed for a cube.");
}

void add_clip_options(CommandLine& line, SigmaClipParams& params) {
  line.heading("Clipping");
  line.real(
      "--kappa", "KAPPA", {0, false, largest_real, "a finite number above 0"},
      [&params](double kappa) { params.kappa = kappa; },
      "Keep pixels within KAPPA standard deviations of the\nmedian, again and again; default 3.",
      fmt::format("{}", params.kappa));
  line.integer(
      "--max-passes", "N", {0, most_passes, "an integer from 0 to 2147483647"},
      [&params](std::int64_t n) { params.max_passes = static_cast<int>(n); },
      "Stop after N passes; default 0: when a pass removes\nnothing.",
      fmt::format("{}", params.max_passes));
}

void add_find_options(CommandLine& line, FindParams& params) {
  add_clip_options(line, params.clip);
  line.heading("Sources");
  line.real(
      "--threshold", "T", {0, true, largest_real, "a finite number of 0 or more"},
      [&params](double threshold) { params.threshold = threshold; },
      "Foreground is above T clipped standard deviations;\ndefault 5.",
      fmt::format("{}", params.threshold));
  line.choice(
      "--about", {"zero", "median"},
      [&params](const std::string& word) {
        params.about = word == "zero" ? ThresholdAbout::zero : ThresholdAbout::median;
      },
      "What the threshold is added to: zero (default), or\n"
      "the clipped median (for images with a sky level).",
      "zero");
  line.real(
      "--level", "VALUE", finite_range(), [&params](double level) { params.level = level; },
      "Threshold in the image's unit, may be negative;\ninstead of --threshold and --about.");
  line.excludes("--level", "--threshold");
  line.excludes("--level", "--about");
  line.choice(
      "--connectivity", {"4", "8"},
      [&params](const std::string& word) {
        params.label.connectivity = word == "4" ? Connectivity::four : Connectivity::eight;
      },
      "Neighbours share an edge (4, the default), or an edge\nor a corner (8).", "4");
  line.integer(
      "--min-pixels", "N", {1, largest_integer, "an integer of 1 or more"},
      [&params](std::int64_t n) { params.label.min_pixels = n; },
      "Drop smaller sources; default 1: none.", fmt::format("{}", params.label.min_pixels));
}

std::string find_options_as_typed(const FindParams& params) {
  std::string text =
      fmt::format("--kappa {} --max-passes {}", params.clip.kappa, params.clip.max_passes);
  if (params.level) {
    text += fmt::format(" --level {}", *params.level);
  } else {
    text += fmt::format(" --threshold {} --about {}", params.threshold,
                        params.about == ThresholdAbout::zero ? "zero" : "median");
  }
  return text + fmt::format(" --connectivity {} --min-pixels {}",
                            static_cast<int>(params.label.connectivity), params.label.min_pixels);
}

std::string input_options_as_typed(const InputOptions& options) {
  std::string text;
  if (options.read.hdu) text += " --hdu " + *options.read.hdu;
  if (options.read.plane) text += fmt::format(" --plane {}", *options.read.plane);
  return text;
}

void add_type_option(CommandLine& line, PixelType& type) {
  const char* standard = type == PixelType::float32 ? "float32" : "float64";
  line.choice(
      "--type", {"float32", "float64"},
      [&type](const std::string& word) {
        type = word == "float32" ? PixelType::float32 : PixelType::float64;
      },
      fmt::format("Type of the pixels; default {}.", standard), standard);
}

void add_overwrite_flag(CommandLine& line, bool& overwrite) {
  line.flag("--overwrite", overwrite, "Replace an output file that exists.");
}

}  // namespace kastor::cli
