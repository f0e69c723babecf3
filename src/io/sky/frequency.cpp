// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/frequency.hpp>
#include <map>
#include <string_view>

#include "io/fits/wcs_header.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

/// The axis of frequency, from 1; 0 if there is none beside x and y.
int frequency_axis(const FitsImage& image) {
  std::map<int, bool> is_frequency;  // of several cards the last one counts
  for (const std::string& card : image.header_cards) {
    if (!card.starts_with("CTYPE")) continue;
    const auto parts = detail::split_keyword(detail::keyword_of(card));
    if (!parts || !parts->alternative.empty() || parts->second) continue;
    is_frequency[parts->first] = detail::string_value(card) == "FREQ";
  }
  for (const auto& [axis, yes] : is_frequency)
    if (yes && axis != image.fits_axes[0] && axis != image.fits_axes[1]) return axis;
  return 0;
}

/// The number in a card; `missing` without one. \throws kastor::Error if it is not a number
double card_number(const detail::WcsHeader& header, const std::string& keyword, double missing) {
  const std::string* card = header.find(keyword);
  if (card == nullptr) return missing;
  const auto value = detail::real_value(*card);
  if (!value) throw Error(detail::found_in(*card) + "; expected a number");
  return *value;
}

/// The unit in Hz. \throws kastor::Error for one that is not of frequency
double unit_in_hertz(const std::string& keyword, const std::string& unit) {
  struct Unit {
    std::string_view name;
    double hertz;
  };
  constexpr std::array<Unit, 7> units = {{{"", 1},
                                          {"kHz", 1e3},
                                          {"KHZ", 1e3},
                                          {"MHz", 1e6},
                                          {"MHZ", 1e6},
                                          {"GHz", 1e9},
                                          {"GHZ", 1e9}}};
  if (detail::upper_case(unit) == "HZ") return 1;
  for (const Unit& each : units)
    if (each.name == unit) return each.hertz;
  throw Error(
      fmt::format("{} is '{}'; expected Hz, kHz, MHz or GHz", keyword, detail::one_line(unit)));
}

/// The pixel, from 1, at which the image lies on an axis that it does not show.
double pixel_on(const FitsImage& image, int axis) {
  const auto index = static_cast<std::size_t>(axis - 1);
  const bool long_axis = index < image.hdu.axes.size() && image.hdu.axes[index] > 1;
  return long_axis ? static_cast<double>(image.plane.value_or(0)) + 1.0 : 1.0;
}

/// How far the image lies from the reference pixel on the axis, in the unit of CDELTi or, with a CD
/// matrix, of the axis. \throws kastor::Error
double offset_on(const FitsImage& image, const detail::WcsHeader& header, int axis,
                 std::string_view matrix) {
  const auto from_reference = [&](int j) {
    return pixel_on(image, j) - card_number(header, fmt::format("CRPIX{}", j), 0.0);
  };
  std::map<int, std::string> row;  // the keywords; of several the last one counts
  for (const std::string& card : header.cards) {
    if (!card.starts_with(matrix)) continue;
    const std::string keyword = detail::keyword_of(card);
    const auto parts = detail::split_keyword(keyword);
    if (!parts || parts->stem != matrix || parts->first != axis || !parts->second ||
        !parts->alternative.empty())
      continue;
    row[*parts->second] = keyword;
  }
  double sum = 0;
  for (const auto& [j, keyword] : row) {
    const double factor = card_number(header, keyword, 0.0);
    if (factor == 0) continue;
    if (j == image.fits_axes[0] || j == image.fits_axes[1])
      throw Error("the frequency changes over the image (" + keyword + ")");
    sum += factor * from_reference(j);
  }
  // Missing elements of PCi_j are those of the unit matrix, of CDi_j 0.
  return row.contains(axis) || matrix == "CD" ? sum : sum + from_reference(axis);
}

/// Whether the axis has elements CDi_j of its own.
bool has_cd_row(const detail::WcsHeader& header, int axis) {
  return std::any_of(header.cards.begin(), header.cards.end(), [axis](const std::string& card) {
    if (!card.starts_with("CD")) return false;
    const auto parts = detail::split_keyword(detail::keyword_of(card));
    return parts && parts->stem == "CD" && parts->second && parts->first == axis &&
           parts->alternative.empty();
  });
}

double frequency_on(const FitsImage& image, const detail::WcsHeader& header, int axis) {
  const std::string unit = fmt::format("CUNIT{}", axis);
  const double hertz = unit_in_hertz(unit, header.text(unit));
  const std::string scale = fmt::format("CDELT{}", axis);
  // Some headers have a CD matrix for the sky and CDELTi for the frequency. Beside PCi_j the CD
  // matrix is not used, as on the sky.
  const bool by_cd = !header.has_stem("PC", "") && header.has_stem("CD", "") &&
                     (has_cd_row(header, axis) || !header.has(scale));
  const double step = by_cd
                          ? offset_on(image, header, axis, "CD")
                          : offset_on(image, header, axis, "PC") * card_number(header, scale, 1.0);
  const double value = (card_number(header, fmt::format("CRVAL{}", axis), 0.0) + step) * hertz;
  if (!(value > 0) || !std::isfinite(value))
    throw Error(fmt::format("axis {} gives {} Hz; expected a number above 0", axis, value));
  return value;
}

}  // namespace

FrequencyReading read_frequency(const FitsImage& image) {
  const int axis = frequency_axis(image);
  if (axis == 0) return {};
  try {
    return {frequency_on(image, {image.header_cards, {}}, axis), ""};
  } catch (const Error& error) {
    return {std::nullopt, std::string("there is no column freq: ") + error.what()};
  }
}

}  // namespace kastor::io
