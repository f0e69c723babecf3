// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/source_units.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

/// The unit in upper case, without what some writers put around it: quotes, brackets, "Angle[...]"
/// and a full stop.
std::string bare_unit(std::string_view unit) {
  unit = without_blanks(unit);
  for (bool more = true; more && unit.size() > 2;) {
    const char first = unit.front();
    const char last = unit.back();
    more = ((first == '"' || first == '\'' || first == '`') && last == first) ||
           (first == '[' && last == ']') || (first == '(' && last == ')');
    if (more) unit = without_blanks(unit.substr(1, unit.size() - 2));
  }
  std::string upper = upper_case(unit);
  if (upper.starts_with("ANGLE[") && upper.ends_with(']'))
    upper = upper.substr(6, upper.size() - 7);
  while (upper.size() > 1 && upper.ends_with('.')) upper.pop_back();
  return upper;
}

template <std::size_t N>
bool is_any(const std::string& upper, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), upper) != names.end();
}

}  // namespace

ScaledUnit scaled_flux_unit(std::string_view unit) {
  std::string text;
  for (const char c : unit) {
    if (c != ' ') text += c;
  }
  const auto upper = upper_case(text);
  auto beam = upper.find("BEAM");
  while (beam != std::string::npos && beam > 0 &&
         std::string_view("/.*(").find(upper[beam - 1]) != std::string_view::npos) {
    --beam;
  }
  const auto stem = text.substr(0, beam);
  // "MJY" in a header that is all capitals may be either, so it is neither.
  const bool mega = stem == "MJy";
  auto bare = upper_case(stem);
  if (bare.starts_with("\xC2\xB5") || bare.starts_with("\xCE\xBC")) bare.replace(0, 2, "U");
  if (bare == "JY" || bare == "JANSKY") return {1, "Jy"};
  if (mega) return {1e6, "Jy"};
  if (bare == "KJY") return {1e3, "Jy"};
  if (bare == "MJY" && stem != "MJY") return {1e-3, "Jy"};
  if (bare == "UJY") return {1e-6, "Jy"};
  if (bare == "NJY") return {1e-9, "Jy"};
  return {1, stem};
}

bool is_hours(std::string_view unit) {
  constexpr std::array<std::string_view, 6> names = {"H",    "HR",    "HRS",
                                                     "HOUR", "HOURS", "HOURANGLE"};
  return is_any(bare_unit(unit), names);
}

std::optional<double> degrees_per(std::string_view unit) {
  constexpr double radian = 57.295779513082320877;
  constexpr double arcsec = 1.0 / 3600;
  if (is_hours(unit)) return 15.0;
  const auto upper = bare_unit(unit);
  using Spelling = std::pair<std::string_view, double>;
  constexpr std::array<Spelling, 26> spellings = {Spelling{"", 1.0},
                                                  Spelling{"DEG", 1.0},
                                                  Spelling{"DEGS", 1.0},
                                                  Spelling{"DEGREE", 1.0},
                                                  Spelling{"DEGREES", 1.0},
                                                  Spelling{"DECIMAL DEGREES", 1.0},
                                                  Spelling{"\xC2\xB0", 1.0},
                                                  Spelling{"ARCMIN", 1.0 / 60},
                                                  Spelling{"ARCMINS", 1.0 / 60},
                                                  Spelling{"ARCMINUTE", 1.0 / 60},
                                                  Spelling{"ARCMINUTES", 1.0 / 60},
                                                  Spelling{"'", 1.0 / 60},
                                                  Spelling{"ARCSEC", arcsec},
                                                  Spelling{"ARCSECS", arcsec},
                                                  Spelling{"ARCSECOND", arcsec},
                                                  Spelling{"ARCSECONDS", arcsec},
                                                  Spelling{"ASEC", arcsec},
                                                  Spelling{"\"", arcsec},
                                                  Spelling{"''", arcsec},
                                                  Spelling{"MAS", 1.0 / 3'600'000},
                                                  Spelling{"MARCSEC", 1.0 / 3'600'000},
                                                  Spelling{"UAS", 1.0 / 3'600'000'000},
                                                  Spelling{"RAD", radian},
                                                  Spelling{"RADS", radian},
                                                  Spelling{"RADIAN", radian},
                                                  Spelling{"RADIANS", radian}};
  const auto found =
      std::find_if(spellings.begin(), spellings.end(),
                   [&](const Spelling& spelling) { return spelling.first == upper; });
  if (found == spellings.end()) return std::nullopt;
  return found->second;
}

bool is_pixel_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 5> names = {"PIX", "PIXEL", "PIXELS", "PIXS", "PX"};
  return is_any(bare_unit(unit), names);
}

SexagesimalUnit sexagesimal_unit(std::string_view unit) {
  constexpr std::array<std::string_view, 5> hours = {"H:M:S", "HMS", "HH:MM:SS", "H M S",
                                                     "HH MM SS"};
  constexpr std::array<std::string_view, 5> degrees = {"D:M:S", "DMS", "DD:MM:SS", "D M S",
                                                       "DD MM SS"};
  const auto upper = bare_unit(unit);
  if (is_any(upper, hours)) return SexagesimalUnit::hours;
  return is_any(upper, degrees) ? SexagesimalUnit::degrees : SexagesimalUnit::none;
}

}  // namespace kastor::io::detail
