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

const std::vector<std::string> of_the_lesson = {"--threshold", "--about", "--level"};
const std::vector<std::string> of_the_others = {
    "--seed",    "--flood",         "--negative",   "--drop-at-edge", "--min-beams",
    "--mask",    "--box",           "--beam",       "--cell",         "--estimate",
    "--filter",  "--interpolation", "--background", "--rms",          "--background-map",
    "--rms-map", "--snr-map",       "--residual"};

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

/// Integers between separators, all within the range. None if a part is no such integer.
std::optional<std::vector<std::int64_t>> parse_integers(const std::string& text, char separator,
                                                        std::int64_t low, std::int64_t high) {
  std::vector<std::int64_t> numbers;
  try {
    for (const auto& part : split(text, separator))
      numbers.push_back(parse_integer("", part, {low, high, ""}));
  } catch (const UsageError&) {
    return std::nullopt;  // the caller names the whole text
  }
  return numbers;
}

MeshCell parse_cell(const std::string& text) {
  const auto sides = parse_integers(text, 'x', 1, largest_side);
  if (!sides || sides->size() > 2) {
    throw UsageError("--cell: found '" + text +
                     "'; expected N or WxH, pixels from 1 to 2147483647, as in 64 or 100x50");
  }
  return {sides->back(), sides->front()};
}

PixelBox parse_box(const std::string& text) {
  const auto sides = parse_integers(text, ',', 0, largest_side);
  if (!sides || sides->size() != 4) {
    throw UsageError("--box: found '" + text +
                     "'; expected X1,X2,Y1,Y2: first and last column, first and last row, from 0");
  }
  const PixelBox box{(*sides)[0], (*sides)[1], (*sides)[2], (*sides)[3]};
  if (box.x_min > box.x_max || box.y_min > box.y_max) {
    throw UsageError("--box: found '" + text + "'; expected X1 <= X2 and Y1 <= Y2");
  }
  return box;
}

/// With a sign, "nan" and "inf" too: who types these does not mean a file.
bool looks_like_a_number(const std::string& text) {
  if (text.find_first_not_of("0123456789+-.eE") == std::string::npos) return true;
  std::string word = text.substr(text[0] == '-' || text[0] == '+' ? 1 : 0);
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word == "nan" || word == "inf" || word == "infinity";
}

/// A number is a number, all else a file; one whose name is a number can be written ./5.
GivenMap parse_map(const std::string& option, const std::string& text, bool positive) {
  if (text.empty()) throw UsageError(option + ": found ''; expected a number or a FITS file");
  if (!looks_like_a_number(text)) return text;
  return positive ? parse_real(option, text, {0, false, largest_real, "a finite number above 0"})
                  : parse_real(option, text, finite_range());
}

std::string map_as_typed(const GivenMap& map) {
  if (const auto* number = std::get_if<double>(&map)) return fmt::format("{}", *number);
  return std::get<std::string>(map);
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

void IslandOptionsParser::add_to(CommandLine& line) {
  line.heading("Preset");
  line.choice(
      "--preset", {"lesson", "radio", "sextractor"},
      [this](const std::string& word) {
        m_given.preset = word == "radio"        ? Preset::radio
                         : word == "sextractor" ? Preset::sextractor
                                                : Preset::lesson;
      },
      "The recipe. lesson (default): one threshold above one\n"
      "noise; takes --threshold, --about, --level. radio,\n"
      "sextractor: two thresholds above maps of background\n"
      "and noise, by the options below; if not given,\n"
      "--connectivity is 8, for sextractor --min-pixels 5.",
      name_of(m_given.preset));
  line.standard_depends("--connectivity");
  line.standard_depends("--min-pixels");
  add_thresholds(line);
  add_background(line);
  add_maps(line);
}

void IslandOptionsParser::add_thresholds(CommandLine& line) {
  line.heading("Islands (--preset radio or sextractor)");
  line.real(
      "--seed", "S", {0, true, largest_real, "a finite number of 0 or more"},
      [this](double seed) { m_seed = seed; },
      "An island has a pixel more than S times the local\n"
      "noise above the background; default 5 (radio), 1.5\n(sextractor).");
  line.real(
      "--flood", "F", {0, true, largest_real, "a finite number of 0 or more"},
      [this](double flood) { m_flood = flood; },
      "All its pixels are more than F times the noise above\n"
      "it; default 3 (radio), 1.5 (sextractor), not above S.");
  line.flag("--negative", m_given.find.negative, "Find what is as far below the background, too.");
  line.flag("--drop-at-edge", m_given.find.drop_at_edge,
            "Drop islands that touch the image's border.");
  line.real(
      "--min-beams", "B", {0, true, largest_real, "a finite number of 0 or more"},
      [this](double beams) { m_given.min_beams = beams; },
      "Drop islands smaller than B areas of the beam.");
  line.value(
      "--mask", "FILE.fits", [this](const std::string& path) { m_given.mask = path; },
      "Leave out pixels that are not 0 in this image.");
  line.value(
      "--box", "X1,X2,Y1,Y2", [this](const std::string& text) { m_given.box = parse_box(text); },
      "Use these columns and rows only, for the background\ntoo; from 0, both ends inside.");
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
      "The beam [arcsec, arcsec, deg]; default: the header's.");
}

void IslandOptionsParser::add_background(CommandLine& line) {
  line.heading("Background (--preset radio or sextractor)");
  line.value(
      "--cell", "N|WxH", [this](const std::string& text) { m_given.cell = parse_cell(text); },
      "Size of a cell of the mesh [pixel]; default 64, for\nradio 20 widths of the beam.");
  line.choice(
      "--estimate", {"median", "mode"},
      [this](const std::string& word) {
        m_estimate = word == "median" ? BackgroundEstimate::median : BackgroundEstimate::mode;
      },
      "Level of a cell after clipping; default its median\n"
      "(radio), or SExtractor's mode, 2.5 median - 1.5 mean\n(sextractor).");
  line.integer(
      "--filter", "N", {1, 999, "an odd integer from 1 to 999"},
      [this](std::int64_t n) {
        if (n % 2 == 0) {
          throw UsageError(
              fmt::format("--filter: found '{}'; expected an odd integer from 1 to 999", n));
        }
        m_given.mesh.filter_height = m_given.mesh.filter_width = static_cast<int>(n);
      },
      "Median filter over N x N cells; default 3, 1: none.",
      fmt::format("{}", m_given.mesh.filter_height));
  line.choice(
      "--interpolation", {"bicubic", "bilinear"},
      [this](const std::string& word) {
        m_given.mesh.interpolation =
            word == "bicubic" ? MeshInterpolation::bicubic : MeshInterpolation::bilinear;
      },
      "Both maps between the cells; default bicubic.", "bicubic");
  line.value(
      "--background", "VALUE|FILE",
      [this](const std::string& text) {
        m_given.background = parse_map("--background", text, false);
      },
      "A level [image's unit] or a map of your own instead of\nthe mesh's.");
  line.value(
      "--rms", "VALUE|FILE",
      [this](const std::string& text) { m_given.rms = parse_map("--rms", text, true); },
      "A noise [image's unit] or a map of your own instead of\nthe mesh's.");
}

void IslandOptionsParser::add_maps(CommandLine& line) {
  line.heading("Maps (--preset radio or sextractor)");
  const auto map = [&](const char* name, std::optional<std::string>& target, const char* help) {
    line.value(
        name, "FILE.fits", [&target](const std::string& path) { target = path; }, help);
  };
  map("--background-map", m_given.background_map, "Write the background.");
  map("--rms-map", m_given.rms_map, "Write the noise.");
  map("--snr-map", m_given.snr_map, "Write signal to noise.");
  map("--residual", m_given.residual,
      "Write the image with the background in the place of\nits islands.");
}

IslandOptions IslandOptionsParser::resolved(const CommandLine& line,
                                            const FindParams& lesson) const {
  IslandOptions options = m_given;
  const bool is_lesson = options.preset == Preset::lesson;
  for (const auto& name : is_lesson ? of_the_others : of_the_lesson) {
    if (!line.given(name)) continue;
    throw UsageError(
        is_lesson ? name +
                        ": found with --preset lesson, the default; expected --preset radio or "
                        "sextractor"
                  : name + ": found with --preset " + name_of(options.preset) +
                        "; expected --preset lesson, or --seed and --flood in its place");
  }
  if (is_lesson) return options;

  const bool radio = options.preset == Preset::radio;
  options.find.seed = m_seed.value_or(radio ? 5.0 : 1.5);
  // Given alone, a seed below the usual flood means one threshold.
  options.find.flood = m_flood.value_or(std::min(radio ? 3.0 : 1.5, options.find.seed));
  if (m_flood && !m_seed) options.find.seed = std::max(options.find.seed, *m_flood);
  if (options.find.flood > options.find.seed) {
    throw UsageError(
        fmt::format("--flood: found {}, above the seed of {}; expected --flood <= --seed",
                    options.find.flood, options.find.seed));
  }
  options.find.connectivity =
      line.given("--connectivity") ? lesson.label.connectivity : Connectivity::eight;
  options.find.min_pixels = line.given("--min-pixels") ? lesson.label.min_pixels : (radio ? 1 : 5);
  options.mesh.clip = lesson.clip;
  options.mesh.estimate =
      m_estimate.value_or(radio ? BackgroundEstimate::median : BackgroundEstimate::mode);
  if (!radio && !options.cell) options.cell = MeshCell{64, 64};
  return options;
}

std::string island_options_as_typed(const IslandOptions& options) {
  std::string text =
      fmt::format("--preset {} --seed {} --flood {} --connectivity {} --min-pixels {}",
                  name_of(options.preset), options.find.seed, options.find.flood,
                  static_cast<int>(options.find.connectivity), options.find.min_pixels);
  const auto add = [&](const char* name, const auto& value) {
    text += fmt::format(" {} {}", name, value);
  };
  if (options.min_beams) add("--min-beams", *options.min_beams);
  if (options.find.negative) text += " --negative";
  if (options.find.drop_at_edge) text += " --drop-at-edge";
  if (options.mask) add("--mask", *options.mask);
  if (options.box) {
    add("--box", fmt::format("{},{},{},{}", options.box->x_min, options.box->x_max,
                             options.box->y_min, options.box->y_max));
  }
  if (options.beam) add("--beam", *options.beam);
  if (options.background) add("--background", map_as_typed(*options.background));
  if (options.rms) add("--rms", map_as_typed(*options.rms));
  if (options.background && options.rms) return text;
  add("--cell", fmt::format("{}x{}", options.mesh.cell_width, options.mesh.cell_height));
  add("--kappa", options.mesh.clip.kappa);
  add("--max-passes", options.mesh.clip.max_passes);
  add("--estimate", options.mesh.estimate == BackgroundEstimate::median ? "median" : "mode");
  add("--filter", options.mesh.filter_height);
  add("--interpolation",
      options.mesh.interpolation == MeshInterpolation::bicubic ? "bicubic" : "bilinear");
  return text;
}

}  // namespace kastor::cli
