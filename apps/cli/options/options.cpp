// SPDX-License-Identifier: Apache-2.0
#include "cli/options/options.hpp"

#include <algorithm>
#include <limits>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/backends.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr std::int64_t largest_integer = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_passes = std::numeric_limits<int>::max();

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const auto& backend : compiled_backends()) names.push_back(backend.name);
  return names;
}

std::string checked_backend(const std::string& text) {
  const auto& list = compiled_backends();
  if (std::none_of(list.begin(), list.end(), [&](const auto& b) { return b.name == text; })) {
    throw UsageError("--on: found '" + text + "', which is not compiled in; expected " +
                     alternatives(backend_names()));
  }
  return text;
}

/// The words are those of the option; any finite number is meant.
RealRange blank_value_range() {
  RealRange range = finite_range();
  range.words = "a finite number or 'none'";
  return range;
}

/// The run options other than --on.
void add_other_run_options(CommandLine& line, RunOptions& options) {
  line.integer(
      "--threads", "N", {1, most_threads, "an integer from 1 to 512"},
      [&options](std::int64_t n) { options.threads = static_cast<int>(n); },
      "Use N CPU threads, 1 to 512. Default:\n"
      "KOKKOS_NUM_THREADS, else OMP_NUM_THREADS, else all\ncores.");
  line.flag("--timings", options.timings, "Print the time of each step on stderr.");
  line.flag("--quiet", options.quiet, "Print no progress and no notes on stderr.");
}

}  // namespace

std::string checked_hdu(const std::string& option, const std::string& text) {
  const auto comma = text.rfind(',');
  if (text.empty() || comma == 0) {
    throw UsageError(option + ": found '" + text + "'; expected a number or NAME[,EXTVER]");
  }
  const bool negative = text.size() > 1 && text[0] == '-' &&
                        text.find_first_not_of("0123456789", 1) == std::string::npos;
  if (negative) {
    throw UsageError(option + ": found '" + text + "'; expected 0 (the primary HDU) or more");
  }
  if (comma != std::string::npos) {
    (void)parse_integer(
        option, text.substr(comma + 1),
        {1, std::numeric_limits<int>::max(), "an EXTVER, 1 or more, after the comma"});
  }
  return text;
}

void add_run_options(CommandLine& line, RunOptions& options) {
  line.heading("Running");
  line.value(
      "--on", joined(backend_names(), "|"),
      [&options](const std::string& text) { options.on = checked_backend(text); },
      "Run on this backend. All backends give bit-identical\n"
      "results. Default: the fastest usable one.");
  add_other_run_options(line, options);
}

void add_run_options(CommandLine& line, RunOptions& options, std::vector<std::string>& on) {
  line.heading("Running");
  line.values("--on", joined(backend_names(), "|"), on,
              "Run on this backend. May be repeated. Default: all\nusable backends.");
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
  line.positional("IMAGE", options.path, "FITS image: plain, .gz, .bz2 or tile-compressed.");
  add_part_options(line, options.read);
}

void add_part_options(CommandLine& line, io::ReadOptions& options) {
  line.heading("Input");
  line.value(
      "--hdu", "N|NAME[,VER]",
      [&options](const std::string& text) { options.hdu = checked_hdu("--hdu", text); },
      "Select the HDU by number (0 is the primary HDU) or by\n"
      "EXTNAME and EXTVER. Default: the first image with\ndata.");
  line.integer(
      "--plane", "K", {0, largest_integer, "an integer, 0 or more"},
      [&options](std::int64_t plane) { options.plane = plane; },
      "Select plane K of a cube, counted from 0. Required for\na cube.");
  add_unpacked_option(line, options.max_unpacked);
}

void add_unpacked_option(CommandLine& line, std::int64_t& max_unpacked) {
  line.value(
      "--max-unpacked", "SIZE",
      [&max_unpacked](const std::string& text) {
        max_unpacked = parse_size("--max-unpacked", text);
      },
      "Unpack a compressed file or image to at most SIZE\nbytes; SIZE may end with K, M, G or T "
      "(powers of\n1024). Default: 16G, or this machine's memory if it\nhas less.");
}

void add_blank_option(CommandLine& line, InputOptions& options, const std::string& otherwise) {
  line.value(
      "--blank-value", "VALUE|none",
      [&options](const std::string& text) {
        options.blank = BlankValue{};
        if (text != "none")
          options.blank->value = parse_real("--blank-value", text, blank_value_range());
      },
      "Take pixels that are equal to VALUE [image unit] as\nblank. " + otherwise);
}

void add_unit_option(CommandLine& line, std::optional<std::string>& unit) {
  line.value(
      "--unit", "UNIT",
      [&unit](const std::string& text) {
        if (text.find_first_not_of(' ') == std::string::npos)
          throw UsageError("--unit: found '" + text + "'; expected a unit, as in Jy/beam");
        unit = text;
      },
      "Set the unit of the pixels, as in mJy/beam or MJy/sr.\nDefault: BUNIT of the header.");
}

void add_clip_options(CommandLine& line, SigmaClipParams& params) {
  line.heading("Clipping");
  line.real(
      "--kappa", "KAPPA", {0, false, largest_real, "a finite number above 0"},
      [&params](double kappa) { params.kappa = kappa; },
      "Keep pixels within KAPPA standard deviations of the\nmedian, iteratively. Default: 3.",
      fmt::format("{}", params.kappa));
  line.integer(
      "--max-passes", "N", {0, most_passes, "an integer from 0 to 2147483647"},
      [&params](std::int64_t n) { params.max_passes = static_cast<int>(n); },
      "Stop after N passes; 0 iterates until a pass removes\nnothing. Default: 0.",
      fmt::format("{}", params.max_passes));
}

void add_find_options(CommandLine& line, FindParams& params) {
  add_clip_options(line, params.clip);
  line.heading("Sources");
  line.real(
      "--threshold", "T", {0, true, largest_real, "a finite number, 0 or more"},
      [&params](double threshold) { params.threshold = threshold; },
      "Detect pixels above T clipped standard deviations.\nDefault: 5.",
      fmt::format("{}", params.threshold));
  line.choice(
      "--about", {"zero", "median"},
      [&params](const std::string& word) {
        params.about = word == "zero" ? ThresholdAbout::zero : ThresholdAbout::median;
      },
      "Add the threshold to zero, or to the clipped median\n"
      "(for images with a sky level). Default: zero.",
      "zero");
  line.real(
      "--level", "VALUE", finite_range(), [&params](double level) { params.level = level; },
      "Detect pixels above VALUE [image unit], which may be\n"
      "negative. Excludes --threshold and --about.");
  line.excludes("--level", "--threshold");
  line.excludes("--level", "--about");
  line.choice(
      "--connectivity", {"4", "8"},
      [&params](const std::string& word) {
        params.label.connectivity = word == "4" ? Connectivity::four : Connectivity::eight;
      },
      "Connect pixels that share an edge (4), or an edge or a\ncorner (8). Default: 4.", "4");
  line.integer(
      "--min-pixels", "N", {1, largest_integer, "an integer, 1 or more"},
      [&params](std::int64_t n) { params.label.min_pixels = n; },
      "Drop sources of fewer than N pixels. Default: 1.",
      fmt::format("{}", params.label.min_pixels));
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
  if (options.blank) {
    text += " --blank-value " +
            (options.blank->value ? fmt::format("{}", *options.blank->value) : std::string("none"));
  }
  return text;
}

void add_type_option(CommandLine& line, PixelType& type) {
  const char* standard = type == PixelType::float32 ? "float32" : "float64";
  line.choice(
      "--type", {"float32", "float64"},
      [&type](const std::string& word) {
        type = word == "float32" ? PixelType::float32 : PixelType::float64;
      },
      fmt::format("Set the type of the pixels. Default: {}.", standard), standard);
}

void add_overwrite_flag(CommandLine& line, bool& overwrite) {
  line.flag("--overwrite", overwrite, "Replace existing output files.");
}

}  // namespace kastor::cli
