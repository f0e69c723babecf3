// SPDX-License-Identifier: Apache-2.0
#include "cli/options/island_options.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {
namespace {

constexpr std::int64_t largest_side = std::numeric_limits<std::int32_t>::max();

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos;
       end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

const std::vector<std::string> of_the_lesson = {"--threshold", "--about", "--level"};
const std::vector<std::string> of_the_others = split(
    "--seed --flood --detect-image --detect-image-hdu --detect-image-plane --filter-kernel "
    "--negative --drop-at-edge --min-beams --mask --mask-hdu --mask-plane --box --beam --noise "
    "--cell --estimate --filter --interpolation --large-sources --clipped-noise --background "
    "--background-hdu --background-plane --rms --rms-hdu --rms-plane --rms-kind --gain "
    "--zero-point --weight --weight-hdu --weight-plane --exposure --exposure-hdu "
    "--exposure-plane --adaptive-rms --background-map --rms-map --snr-map --residual --deblend "
    "--deblend-contrast --deblend-prominence --components --shape --model --fit-residual --names",
    ' ');

/// Whether an option of these is an output, or says what is in one.
bool is_output(const std::string& name) {
  static const std::vector<std::string> others = {"--residual", "--components",   "--shape",
                                                  "--model",    "--fit-residual", "--names"};
  return name.ends_with("-map") || std::find(others.begin(), others.end(), name) != others.end();
}

/// The integers between the separators; none if a part is not an integer within the range.
std::optional<std::vector<std::int64_t>> parse_integers(const std::string& text, char separator,
                                                        std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> numbers;
  try {
    for (const auto& part : split(text, separator))
      numbers.push_back(parse_integer("", part, {low, high, ""}));
  } catch (const UsageError&) {
    return std::nullopt;  // the message of the caller names the whole text
  }
  return numbers;
}

MeshCell parse_cell(const std::string& text) {
  const auto sides = parse_integers(text, 'x', 1, largest_side);
  if (!sides || sides->size() > 2) {
    throw UsageError("--cell: found '" + text +
                     "'; expected N or WxH, 1 to 2147483647 pixels each, as in 64 or 100x50");
  }
  return {sides->back(), sides->front()};
}

PixelBox parse_box(const std::string& text) {
  const auto sides = parse_integers(text, ',', 0, largest_side);
  if (!sides || sides->size() != 4) {
    throw UsageError("--box: found '" + text +
                     "'; expected X1,X2,Y1,Y2: first and last column, first and last row, counted "
                     "from 0");
  }
  const PixelBox box{(*sides)[0], (*sides)[1], (*sides)[2], (*sides)[3]};
  if (box.x_min > box.x_max || box.y_min > box.y_max) {
    throw UsageError("--box: found '" + text + "'; expected X1 <= X2 and Y1 <= Y2");
  }
  return box;
}

struct SeedAndFlood {
  double seed, flood;
};
/// The defaults, in units of the noise after a filter. In fields of 2048 x 2048 pixels of white
/// noise hardly a fluctuation reaches 5.4. Without a filter it is SExtractor's threshold.
SeedAndFlood thresholds_of(const IslandOptions& options) {
  if (options.preset == Preset::radio) return {5, 3};
  return options.detection.has_filter() ? SeedAndFlood{5.4, 4} : SeedAndFlood{1.5, 1.5};
}

}  // namespace

const char* name_of(Preset preset) {
  switch (preset) {
    case Preset::radio:
      return "radio";
    case Preset::sextractor:
      return "sextractor";
    case Preset::lesson:
      break;
  }
  return "lesson";
}

std::vector<std::string> IslandOptionsParser::search_names() {
  auto names = of_the_others;
  std::erase_if(names, is_output);
  return names;
}

void IslandOptionsParser::add_to(CommandLine& line) {
  add_search_to(line);
  m_components.add_components_to(line);
  add_maps(line);
  m_has_outputs = m_has_components = true;
}

void IslandOptionsParser::add_report_to(CommandLine& line) {
  add_search_to(line);
  m_components.add_fitting_to(line);
  m_has_components = true;
}

void IslandOptionsParser::add_search_to(CommandLine& line) {
  line.heading("Preset");
  line.choice(
      "--preset", {"lesson", "radio", "sextractor"},
      [this](const std::string& word) {
        m_given.preset = word == "radio"        ? Preset::radio
                         : word == "sextractor" ? Preset::sextractor
                                                : Preset::lesson;
      },
      "Choose the method. lesson uses one threshold for the\n"
      "whole image, set by --threshold, --about and --level\n"
      "(see below). radio and sextractor use two thresholds\n"
      "above maps of the background and the noise, set by the\n"
      "options that follow. They set the default of\n"
      "--connectivity to 8, and sextractor also that of\n"
      "--min-pixels to 5. Default: " +
          std::string(name_of(m_standard)) + ".",
      name_of(m_standard));
  line.standard_depends("--connectivity");
  line.standard_depends("--min-pixels");
  add_thresholds(line);
  add_noise_option(line, m_given.noise);
  line.heading("Background (--preset radio or sextractor)");
  add_background(line);
  add_adaptive_rms(line);
  m_photometry.add_to(line);
  m_components.add_deblending_to(line);
}

void IslandOptionsParser::add_measuring_to(CommandLine& line) {
  m_given.preset = Preset::radio;
  line.heading("Image");
  line.choice(
      "--preset", {"radio", "sextractor"},
      [this](const std::string& word) {
        m_given.preset = word == "radio" ? Preset::radio : Preset::sextractor;
      },
      "Estimate the background as 'kastor find' does with\nthis preset. Default: radio.", "radio");
  add_region(line);
  add_noise_option(line, m_given.noise);
  line.heading("Background");
  add_background(line);
}

void IslandOptionsParser::add_thresholds(CommandLine& line) {
  line.heading("Islands (--preset radio or sextractor)");
  line.real(
      "--seed", "S", {0, true, largest_real, "a finite number, 0 or more"},
      [this](double seed) { m_seed = seed; },
      "Require a pixel of each island to be more than S times\n"
      "the local noise above the background. Default: 5\n"
      "(radio), 5.4 (sextractor; without a filter 1.5).");
  line.real(
      "--flood", "F", {0, true, largest_real, "a finite number, 0 or more"},
      [this](double flood) { m_flood = flood; },
      "Grow islands over connected pixels more than F times\n"
      "the local noise above the background. Not above S.\n"
      "Default: 3 (radio), 4 (sextractor; without a filter\n1.5).");
  m_detection.add_to(line);
  line.flag("--negative", m_given.find.negative, "Also find islands as far below the background.");
  line.flag("--drop-at-edge", m_given.find.drop_at_edge,
            "Drop islands that touch the edge of the image.");
  line.real(
      "--min-beams", "B", {0, true, largest_real, "a finite number, 0 or more"},
      [this](double beams) { m_given.min_beams = beams; },
      "Drop islands smaller than B beam areas.");
  add_region(line);
}

void IslandOptionsParser::add_region(CommandLine& line) {
  line.value(
      "--mask", "FILE.fits", [this](const std::string& path) { m_mask = path; },
      "Exclude pixels that are not 0 in this image.");
  add_given_part(line, "--mask", m_mask_part);
  line.value(
      "--box", "X1,X2,Y1,Y2", [this](const std::string& text) { m_given.box = parse_box(text); },
      "Use only columns X1 to X2 and rows Y1 to Y2, counted\n"
      "from 0 and ends included, also for the background.");
  line.value(
      "--beam", "MAJ,MIN[,PA]",
      [this](const std::string& text) {
        try {
          (void)io::parse_beam(text);
        } catch (const Error& error) {
          throw UsageError("--beam: " + without_function(error.what()));
        }
        m_given.beam = text;
      },
      "Set the FWHM [arcsec] and the position angle [deg] of\n"
      "the beam. Default: the beam in the header.");
}

void IslandOptionsParser::add_background(CommandLine& line) {
  line.value(
      "--cell", "N|WxH", [this](const std::string& text) { m_given.cell = parse_cell(text); },
      "Set the size of a mesh cell [pixel]. Default: 20 beam\n"
      "widths (radio), else 64.");
  line.choice(
      "--estimate", {"median", "mode"},
      [this](const std::string& word) {
        m_estimate = word == "median" ? BackgroundEstimate::median : BackgroundEstimate::mode;
      },
      "Take the median of each clipped cell, or SExtractor's\n"
      "mode, 2.5 median - 1.5 mean. Default: median (radio),\nmode (sextractor).");
  line.integer(
      "--filter", "N", {1, 999, "an odd integer from 1 to 999"},
      [this](std::int64_t n) {
        if (n % 2 == 0) {
          throw UsageError(
              fmt::format("--filter: found '{}'; expected an odd integer from 1 to 999", n));
        }
        m_given.mesh.filter_height = m_given.mesh.filter_width = static_cast<int>(n);
      },
      "Median-filter the mesh over N x N cells, N odd; 1\nmeans no filter. Default: 3.",
      fmt::format("{}", m_given.mesh.filter_height));
  line.choice(
      "--interpolation", {"bicubic", "bilinear"},
      [this](const std::string& word) {
        m_given.mesh.interpolation =
            word == "bicubic" ? MeshInterpolation::bicubic : MeshInterpolation::bilinear;
      },
      "Set the interpolation of both maps between the cells.\nDefault: bicubic.", "bicubic");
  line.choice(
      "--large-sources", {"mask", "ignore"},
      [this](const std::string& word) { m_mask_large_sources = word == "mask"; },
      "Mask cells that a source larger than a cell covers,\n"
      "and interpolate the mesh across them, or take them as\n"
      "sky. Default: mask (radio), ignore (sextractor).");
  line.choice(
      "--clipped-noise", {"corrected", "as-is"},
      [this](const std::string& word) { m_correct_clip = word == "corrected"; },
      "Correct the noise for what the clip takes from that of\n"
      "normally distributed pixels, 1.5 % at a kappa of 3.\n"
      "Default: corrected (radio), as-is (sextractor).");
  add_given_maps(line);
}

void IslandOptionsParser::add_given_maps(CommandLine& line) {
  line.value(
      "--background", "VALUE|FILE",
      [this](const std::string& text) {
        check_given_map("--background", text, false);
        m_background = text;
      },
      "Use this background instead of the mesh: a number\n[image unit] or a FITS image.");
  add_given_part(line, "--background", m_background_part);
  line.value(
      "--rms", "VALUE|FILE",
      [this](const std::string& text) {
        check_given_map("--rms", text, true);
        m_rms = text;
      },
      "Use this noise instead of the mesh: a number\n[image unit] or a FITS image.");
  add_given_part(line, "--rms", m_rms_part);
  line.choice(
      "--rms-kind", {"rms", "variance", "weight"},
      [this](const std::string& word) {
        m_given.rms_kind = word == "variance" ? RmsKind::variance
                           : word == "weight" ? RmsKind::weight
                                              : RmsKind::rms;
      },
      "Read the image of the noise as the noise itself, its\n"
      "square (variance) or the inverse of its square\n(weight). Default: rms.",
      name_of(m_given.rms_kind));
}

void IslandOptionsParser::add_adaptive_rms(CommandLine& line) {
  line.real(
      "--adaptive-rms", "S", {0, false, largest_real, "a finite number above 0"},
      [this](double snr) { m_given.adaptive_rms = snr; },
      "Find twice: raise the noise to that of the artefacts\n"
      "within some 12 beam widths of each peak of more than S\n"
      "times the noise, as in 200. Needs a beam. Excludes\n"
      "--detect-image.");
}

void IslandOptionsParser::add_maps(CommandLine& line) {
  line.heading("Maps (--preset radio or sextractor)");
  const auto map = [&](const char* name, std::optional<std::string>& target, const char* help) {
    line.value(
        name, "FILE.fits", [&target](const std::string& path) { target = path; }, help);
  };
  map("--background-map", m_given.background_map, "Write the background map.");
  map("--rms-map", m_given.rms_map, "Write the noise map.");
  map("--snr-map", m_given.snr_map, "Write the signal-to-noise map.");
  map("--residual", m_given.residual,
      "Write the image with its islands replaced by the\nbackground.");
}

IslandOptions IslandOptionsParser::resolved(const CommandLine& line,
                                            const FindParams& lesson) const {
  IslandOptions options = m_given;
  const bool is_lesson = options.preset == Preset::lesson;
  for (const auto& name : is_lesson ? of_the_others : of_the_lesson) {
    const bool is_of_components = name == "--components" || name == "--shape";
    if (is_output(name) && !(is_of_components ? m_has_components : m_has_outputs)) continue;
    if (!line.given(name)) continue;
    const std::string standard = m_standard == Preset::lesson ? ", the default" : "";
    throw UsageError(is_lesson ? name + ": found with --preset lesson" + standard +
                                     "; expected --preset radio or sextractor"
                               : name + ": found with --preset " + name_of(options.preset) +
                                     "; expected --preset lesson, or --seed and --flood instead");
  }
  if (is_lesson) return options;
  resolve_given(options);
  resolve_photometry(line, options);

  const bool radio = options.preset == Preset::radio;
  options.detection =
      m_detection.resolved(radio ? FilterKernel(NoFilter{}) : FilterKernel(GaussianFilter{3}));
  if (options.adaptive_rms && options.detection.image) {
    throw UsageError(
        "--adaptive-rms: found with --detect-image, whose own noise it does not raise; expected "
        "one of the two");
  }
  options.components =
      m_components.resolved(radio ? ComponentDefaults{false, m_has_components, 0, {}}
                                  : ComponentDefaults{true, false, 0.005, 4});
  const auto [seed, flood] = thresholds_of(options);
  options.find.seed = m_seed.value_or(seed);
  // A seed given alone, below the default flood, lowers the flood to it.
  options.find.flood = m_flood.value_or(std::min(flood, options.find.seed));
  if (m_flood && !m_seed) options.find.seed = std::max(options.find.seed, *m_flood);
  if (options.find.flood > options.find.seed) {
    throw UsageError(
        fmt::format("--flood: found {}, above the seed of {}; expected --flood <= --seed",
                    options.find.flood, options.find.seed));
  }
  options.find.connectivity =
      line.given("--connectivity") ? lesson.label.connectivity : Connectivity::eight;
  options.find.min_pixels = line.given("--min-pixels") ? lesson.label.min_pixels : (radio ? 1 : 5);
  resolve_mesh(lesson.clip, options);
  return options;
}

IslandOptions IslandOptionsParser::resolved_for_measuring(const SigmaClipParams& clip) const {
  IslandOptions options = m_given;
  resolve_given(options);
  resolve_mesh(clip, options);
  return options;
}

void IslandOptionsParser::resolve_mesh(const SigmaClipParams& clip, IslandOptions& options) const {
  const bool radio = options.preset == Preset::radio;
  options.mesh.clip = clip;
  options.mesh.estimate =
      m_estimate.value_or(radio ? BackgroundEstimate::median : BackgroundEstimate::mode);
  options.mesh.mask_large_sources = m_mask_large_sources.value_or(radio);
  options.mesh.correct_clip = m_correct_clip.value_or(radio);
  if (!radio && !options.cell) options.cell = MeshCell{64, 64};
}

void IslandOptionsParser::resolve_given(IslandOptions& options) const {
  options.mask = given_file("--mask", m_mask, m_mask_part);
  options.background = given_map("--background", m_background, m_background_part, false);
  options.rms = given_map("--rms", m_rms, m_rms_part, true);
  if (options.rms_kind == RmsKind::rms) return;
  if (!options.rms) {
    throw UsageError(
        fmt::format("--rms-kind: found '{}' without --rms and --rms-hdu; expected one of them, "
                    "which names the image of the noise",
                    name_of(options.rms_kind)));
  }
  if (std::holds_alternative<double>(*options.rms)) {
    throw UsageError(
        fmt::format("--rms-kind: found '{}' with the number --rms {}; expected a FITS file, or the "
                    "noise itself",
                    name_of(options.rms_kind), *m_rms));
  }
}

void IslandOptionsParser::resolve_photometry(const CommandLine& line,
                                             IslandOptions& options) const {
  options.photometry = m_photometry.resolved(options.rms.has_value());
  if (options.preset == Preset::sextractor) return;
  for (const auto* name : {"--gain", "--zero-point"}) {
    if (!line.given(name)) continue;
    throw UsageError(fmt::format("{}: found with --preset {}; expected --preset sextractor", name,
                                 name_of(options.preset)));
  }
}

std::string sky_as_typed(const IslandOptions& options) {
  std::string text;
  if (options.mask) text += given_as_typed("--mask", *options.mask);
  if (const auto& box = options.box)
    text += fmt::format(" --box {},{},{},{}", box->x_min, box->x_max, box->y_min, box->y_max);
  if (options.beam) text += " --beam " + *options.beam;
  text += fmt::format(" --noise {}", name_of(options.noise));
  if (options.background) text += given_as_typed("--background", *options.background);
  if (options.rms) text += given_as_typed("--rms", *options.rms);
  if (options.rms_kind != RmsKind::rms)
    text += fmt::format(" --rms-kind {}", name_of(options.rms_kind));
  return text;
}

std::string mesh_as_typed(const BackgroundParams& mesh) {
  return fmt::format(
      " --estimate {} --filter {} --interpolation {} --large-sources {} --clipped-noise {}",
      mesh.estimate == BackgroundEstimate::median ? "median" : "mode", mesh.filter_height,
      mesh.interpolation == MeshInterpolation::bicubic ? "bicubic" : "bilinear",
      mesh.mask_large_sources ? "mask" : "ignore", mesh.correct_clip ? "corrected" : "as-is");
}

std::string island_options_as_typed(const IslandOptions& options) {
  std::string text =
      fmt::format("--preset {} --seed {} --flood {} --connectivity {} --min-pixels {}",
                  name_of(options.preset), options.find.seed, options.find.flood,
                  static_cast<int>(options.find.connectivity), options.find.min_pixels);
  const auto add = [&](const char* name, const auto& value) {
    text += fmt::format(" {} {}", name, value);
  };
  text += detection_as_typed(options.detection, options.preset == Preset::sextractor);
  if (options.min_beams) add("--min-beams", *options.min_beams);
  if (options.find.negative) text += " --negative";
  if (options.find.drop_at_edge) text += " --drop-at-edge";
  text += sky_as_typed(options);
  if (options.adaptive_rms) add("--adaptive-rms", *options.adaptive_rms);
  text += photometry_options_as_typed(options.photometry);
  text += component_options_as_typed(options.components, options.preset == Preset::sextractor);
  const bool has_mesh = !options.background || !options.rms || options.detection.image;
  if (has_mesh)
    add("--cell", fmt::format("{}x{}", options.mesh.cell_width, options.mesh.cell_height));
  if (has_mesh || options.detection.has_filter()) {  // whose noise is measured by a clip, too
    add("--kappa", options.mesh.clip.kappa);
    add("--max-passes", options.mesh.clip.max_passes);
  }
  if (!has_mesh) return text;
  return text + mesh_as_typed(options.mesh);
}

}  // namespace kastor::cli
