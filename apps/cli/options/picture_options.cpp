// SPDX-License-Identifier: Apache-2.0
#include "cli/options/picture_options.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

template <class Value, std::size_t N>
using Words = std::array<std::pair<const char*, Value>, N>;

constexpr Words<io::IntensityScale, 3> scales{{{"linear", io::IntensityScale::linear},
                                               {"log", io::IntensityScale::log},
                                               {"asinh", io::IntensityScale::asinh}}};
constexpr Words<io::ColourMap, 4> colour_maps{{{"grey", io::ColourMap::grey},
                                               {"inverted-grey", io::ColourMap::inverted_grey},
                                               {"viridis", io::ColourMap::viridis},
                                               {"cubehelix", io::ColourMap::cubehelix}}};
constexpr Words<io::PictureAxes, 3> axes{{{"pixel", io::PictureAxes::pixel},
                                          {"sky", io::PictureAxes::sky},
                                          {"none", io::PictureAxes::none}}};
constexpr Words<io::MarkShape, 2> shapes{
    {{"ellipse", io::MarkShape::ellipse}, {"box", io::MarkShape::box}}};

template <class Value, std::size_t N>
const char* word_for(const Words<Value, N>& words, Value value) {
  const auto* found = std::find_if(words.begin(), words.end(),
                                   [value](const auto& word) { return word.second == value; });
  return found->first;
}

template <class Value, std::size_t N>
void add_choice(CommandLine& line, const char* name, const Words<Value, N>& words, Value& target,
                const char* help) {
  std::vector<std::string> names;
  for (const auto& word : words) names.emplace_back(word.first);
  line.choice(
      name, names,
      [&words, &target](const std::string& text) {
        for (const auto& [word, value] : words) {
          if (text == word) target = value;
        }
      },
      help, word_for(words, target));
}

void take_percentiles(const std::string& text, io::PictureParams& params) {
  const RealRange range{0, true, 100, "LOW,HIGH: two numbers from 0 to 100, LOW below HIGH"};
  const auto comma = text.find(',');
  if (comma == std::string::npos) {
    throw UsageError("--percentile: found '" + text + "'; expected " + range.words);
  }
  params.lower_percentile = parse_real("--percentile", text.substr(0, comma), range);
  params.upper_percentile = parse_real("--percentile", text.substr(comma + 1), range);
  if (!(params.lower_percentile < params.upper_percentile)) {
    throw UsageError("--percentile: found '" + text + "'; expected " + range.words);
  }
}

void add_limit_options(CommandLine& line, PictureOptions& options) {
  io::PictureParams& params = options.params;
  line.value(
      "--percentile", "LOW,HIGH",
      [&options](const std::string& text) {
        take_percentiles(text, options.params);
        options.percentiles_given = true;
      },
      "Set the limits to these percentiles of the finite\n"
      "pixels: exactly up to 2^24 pixels, above that from\n"
      "every 2nd, 3rd, ... pixel. Default: 0.5,99.99.",
      fmt::format("{},{}", params.lower_percentile, params.upper_percentile));
  line.real(
      "--min", "V", finite_range(), [&params](double value) { params.minimum = value; },
      "Set the lower limit [image unit], not a percentile.");
  line.real(
      "--max", "V", finite_range(), [&params](double value) { params.maximum = value; },
      "Set the upper limit [image unit], not a percentile.");
}

}  // namespace

void add_picture_options(CommandLine& line, PictureOptions& options) {
  io::PictureParams& params = options.params;
  line.heading("Colours");
  add_choice(line, "--scale", scales, params.scale,
             "Set the intensity scale. asinh is linear about the sky\n"
             "level, at most over the lowest tenth of the range, and\n"
             "then logarithmic. Default: asinh.");
  add_limit_options(line, options);
  add_choice(line, "--colour-map", colour_maps, params.colour_map,
             "Set the colour map. inverted-grey runs from white\n"
             "(low) to black (high). Default: inverted-grey.");
  line.choice(
      "--look", {"lesson"},
      [&params](const std::string&) { params.look = io::PictureLook::lesson; },
      "Draw the figure of the course behind 'find --preset\n"
      "lesson'; excludes the options above. It has a\n"
      "logarithmic scale from black (max/100 and below) to\n"
      "white (max/10 and above), max being the largest finite\n"
      "pixel.");
  for (const char* other : {"--scale", "--percentile", "--min", "--max", "--colour-map"})
    line.excludes("--look", other);

  line.heading("Drawing");
  add_choice(line, "--axes", axes, params.axes,
             "Draw axes in pixels from 0, or in sky coordinates.\n"
             "none draws the image alone, without colour bar and\ntext. Default: pixel.");
  line.flag("--flip", params.flip, "Mirror left and right, axes and sources included.");
  line.integer(
      "--size", "N", {1, 16384, "an integer from 1 to 16384"},
      [&params](std::int64_t n) { params.size = static_cast<int>(n); },
      "Set the longest side of the drawn image [pixel].\n"
      "Larger images are averaged over square blocks, smaller\n"
      "ones are enlarged by an integer factor. Default: 1024.",
      fmt::format("{}", params.size));
  add_choice(line, "--marks", shapes, params.marks,
             "Mark sources by ellipses or by bounding boxes.\nDefault: ellipse.");
  line.flag("--labels", params.labels, "Write the ids of the sources where there is room.");
  line.value(
      "--font", "FILE", [&params](const std::string& path) { params.font = path; },
      "Use this TrueType font for all text. Default: the\n"
      "environment variable KASTOR_FONT, else DejaVu Sans.");
}

void check_picture_options(const PictureOptions& options) {
  const io::PictureParams& params = options.params;
  if (params.minimum && params.maximum && options.percentiles_given) {
    throw UsageError("--percentile: found with both --min and --max; expected at most one of them");
  }
  if (params.minimum && params.maximum && !(*params.minimum < *params.maximum)) {
    throw UsageError(fmt::format("--min, --max: found {} and {}; expected --min below --max",
                                 *params.minimum, *params.maximum));
  }
  if (params.scale != io::IntensityScale::log) return;
  for (const auto& [name, limit] :
       {std::pair("--min", params.minimum), std::pair("--max", params.maximum)}) {
    if (limit && !(*limit > 0.0)) {
      throw UsageError(
          fmt::format("{}: found {}; expected a number above 0 with --scale log", name, *limit));
    }
  }
}

std::string picture_options_as_typed(const io::PictureParams& params) {
  std::string text;
  if (params.look == io::PictureLook::lesson) {
    text = "--look lesson";
  } else {
    text = fmt::format("--scale {} --percentile {},{}", word_for(scales, params.scale),
                       params.lower_percentile, params.upper_percentile);
    if (params.minimum) text += fmt::format(" --min {}", *params.minimum);
    if (params.maximum) text += fmt::format(" --max {}", *params.maximum);
    text += fmt::format(" --colour-map {}", word_for(colour_maps, params.colour_map));
  }
  text += fmt::format(" --axes {} --size {} --marks {}", word_for(axes, params.axes), params.size,
                      word_for(shapes, params.marks));
  if (params.flip) text += " --flip";
  if (params.labels) text += " --labels";
  if (!params.font.empty()) text += " --font " + params.font;
  return text;
}

std::string font_of_environment() {
  const char* name = std::getenv("KASTOR_FONT");
  return name == nullptr ? "" : name;
}

void require_png_ending(const std::string& option, const std::string& path) {
  std::string ending = path.substr(path.size() - std::min<std::size_t>(path.size(), 4));
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  if (ending != ".png") {
    throw UsageError(option + ": found '" + path +
                     "', whose suffix names no picture format; expected .png");
  }
}

}  // namespace kastor::cli
