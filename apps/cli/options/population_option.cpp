// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/options/scene_options.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

constexpr std::array<std::pair<std::string_view, SourceShape>, 6> population_shapes = {
    {{"point", SourceShape::gaussian},
     {"gaussian", SourceShape::gaussian},
     {"disk", SourceShape::disk},
     {"ring", SourceShape::ring},
     {"lobes", SourceShape::lobes},
     {"star", SourceShape::moffat}}};

[[noreturn]] void fail_population(const std::string& found) {
  throw UsageError("--add: found " + found +
                   "; expected KIND:count=N and more, as in point:count=100,snr=5..50, with KIND "
                   "among point, gaussian, disk, ring, lobes and star, and keys among count, snr, "
                   "size, axis-ratio, separation, pair-ratio and place");
}

/// "5..50" or "5".
std::pair<double, double> parse_interval(const std::string& item, const std::string& text) {
  const auto dots = text.find("..");
  const auto low = whole_number<double>(text.substr(0, dots));
  const auto high = dots == std::string::npos ? low : whole_number<double>(text.substr(dots + 2));
  if (!low || !high || !(*low >= 0) || !(*high >= 0) || *high > 1e30)
    fail_population("'" + item + "', which is no number of 0 or more, nor two as in 5..50");
  if (*high < *low) fail_population("'" + item + "', where the first number is the larger one");
  return {*low, *high};
}

double parse_number(const std::string& item, const std::string& text) {
  const auto [low, high] = parse_interval(item, text);
  if (low != high) fail_population("'" + item + "', which is not one number");
  return low;
}

/// Takes one "key=value".
void take_item(const std::string& item, Population& population) {
  const auto equals = item.find('=');
  if (equals == std::string::npos) fail_population("'" + item + "'");
  const std::string key = item.substr(0, equals);
  const std::string value = item.substr(equals + 1);
  const auto fraction = [&] {
    const double number = parse_number(item, value);
    if (!(number > 0 && number <= 1))
      fail_population("'" + item + "', which is not above 0 and up to 1");
    return number;
  };
  if (key == "count") {
    const auto count = whole_number<std::int64_t>(value);
    if (!count || *count < 0 || *count > 100000000)
      fail_population("'" + item + "', which is no integer from 0 to 10^8");
    population.count = *count;
  } else if (key == "snr") {
    std::tie(population.snr_min, population.snr_max) = parse_interval(item, value);
    if (!(population.snr_min > 0)) fail_population("'" + item + "', which is not above 0");
  } else if (key == "size") {
    std::tie(population.size_min, population.size_max) = parse_interval(item, value);
    if (!(population.size_min >= 0.1 && population.size_max <= 1e5))
      fail_population("'" + item + "', which is not from 0.1 to 10^5 pixels");
  } else if (key == "axis-ratio") {
    population.axis_ratio = fraction();
  } else if (key == "separation") {
    population.pair_separation = parse_number(item, value);
    if (population.pair_separation > 1e5)
      fail_population("'" + item + "', which is more than 10^5 pixels");
  } else if (key == "pair-ratio") {
    population.pair_ratio = fraction();
  } else if (key == "place") {
    if (value != "grid" && value != "random")
      fail_population("'" + item + "', which is neither grid nor random");
    population.on_grid = value == "grid";
  } else {
    fail_population("'" + item + "'");
  }
}

void check_keys(const std::string& text, std::string_view kind, const Population& population) {
  const bool sized = kind != "point" && kind != "star";
  if (sized && population.size_max <= 0) fail_population("'" + text + "' without a size");
  if (kind == "point" && population.size_max > 0)
    fail_population("'" + text + "', but a point has the size of the beam");
  if (population.size_max > 0 && population.axis_ratio * population.size_min < 0.1)
    fail_population("'" + text + "', whose minor axis is below 0.1 pixel");
  if (kind != "gaussian" && population.axis_ratio != 1)
    fail_population("'" + text + "', but axis-ratio is for gaussian alone");
  if (population.pair_ratio != 1 && population.pair_separation <= 0)
    fail_population("'" + text + "', but pair-ratio needs a separation");
}

}  // namespace

Population parse_population(const std::string& text) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const auto* const shape = std::find_if(population_shapes.begin(), population_shapes.end(),
                                         [&](const auto& each) { return each.first == kind; });
  if (shape == population_shapes.end()) fail_population("'" + text + "'");
  Population population;
  population.shape = shape->second;
  std::vector<std::string> keys;
  for (std::size_t at = colon; at < text.size();) {
    const auto comma = std::min(text.find(',', at + 1), text.size());
    const std::string item = text.substr(at + 1, comma - at - 1);
    const std::string key = item.substr(0, item.find('='));
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) fail_population(key + " twice");
    keys.push_back(key);
    take_item(item, population);
    at = comma;
  }
  if (std::find(keys.begin(), keys.end(), "count") == keys.end())
    fail_population("'" + text + "' without a count");
  check_keys(text, kind, population);
  return population;
}

}  // namespace kastor::cli
