// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "io/fits/wcs_forms.hpp"
#include "io/fits/wcs_keyword.hpp"

namespace kastor::io::detail {
namespace {

std::string numbered(std::string_view stem, int axis, const std::string& alternative) {
  return std::string(stem) + std::to_string(axis) + alternative;
}

std::string numbered(std::string_view stem, int axis, int second, const std::string& alternative) {
  return numbered(stem, axis, "_" + std::to_string(second) + alternative);
}

/// The numbers m of the cards PVi_m of an axis.
std::set<int> parameters_of(const WcsHeader& header, int axis, const std::string& alternative) {
  std::set<int> found;
  for (const std::string& card : header.cards) {
    if (!card.starts_with("PV")) continue;
    const auto parts = split_keyword(keyword_of(card));
    if (parts && parts->stem == "PV" && parts->second && parts->first == axis &&
        parts->alternative == alternative)
      found.insert(*parts->second);
  }
  return found;
}

/// Whether the PVi_m of gnomonic coordinates are those of a polynomial. The projection itself has
/// none on the latitude axis and 0 to 4 on the other: the native place of the reference pixel,
/// which is (0, 90), and that of the pole.
bool is_polynomial(const WcsHeader& header, const CelestialAxes& sky,
                   const std::string& alternative) {
  const auto along = parameters_of(header, sky.longitude, alternative);
  const auto across = parameters_of(header, sky.latitude, alternative);
  if (along.empty()) return false;
  // The polynomial would give one latitude for all pixels.
  const auto is_zero = [&](int m) {
    return header.real(numbered("PV", sky.latitude, m, alternative)) == 0.0;
  };
  if (!across.empty() && std::all_of(across.begin(), across.end(), is_zero)) return false;
  if (*along.rbegin() > 4) return true;
  const bool native = header.real(numbered("PV", sky.longitude, 1, alternative)) == 0.0 &&
                      header.real(numbered("PV", sky.longitude, 2, alternative)) == 90.0;
  return !across.empty() && !native;
}

using Matrix = std::array<std::array<double, 2>, 2>;

/// The CD matrix that CDELTi with PCi_j or CROTAi stands for (FITS standard 4.0, sections 8.1 and
/// 8.4.2); none if a card is not a number.
std::optional<Matrix> scaled_matrix(const WcsHeader& header, const CelestialAxes& sky,
                                    const std::string& alternative) {
  const auto value = [&](const std::string& keyword, double missing) {
    return header.has(keyword) ? header.real(keyword).value_or(std::nan("")) : missing;
  };
  const std::array<double, 2> scale{value(numbered("CDELT", 1, alternative), 1.0),
                                    value(numbered("CDELT", 2, alternative), 1.0)};
  Matrix cd{};
  if (header.has_stem("PC", alternative)) {
    for (const int i : {1, 2})
      for (const int j : {1, 2}) {
        const auto row = static_cast<std::size_t>(i - 1);
        cd[row][static_cast<std::size_t>(j - 1)] =
            scale[row] * value(numbered("PC", i, j, alternative), i == j ? 1.0 : 0.0);
      }
  } else {
    const auto x = static_cast<std::size_t>(sky.longitude - 1);
    const auto y = static_cast<std::size_t>(sky.latitude - 1);
    const double angle =
        value(numbered("CROTA", sky.latitude, alternative), 0.0) * std::numbers::pi / 180.0;
    cd[x][x] = scale[x] * std::cos(angle);
    cd[x][y] = -scale[y] * std::sin(angle);
    cd[y][x] = scale[x] * std::sin(angle);
    cd[y][y] = scale[y] * std::cos(angle);
  }
  for (const auto& row : cd)
    for (const double element : row)
      if (!std::isfinite(element)) return std::nullopt;
  return cd;
}

/// wcslib applies the polynomial between PCi_j and CDELTi. With a CD matrix it is where it belongs.
/// False if the cards are no numbers.
bool use_cd_matrix(WcsHeader& header, const CelestialAxes& sky, const std::string& alternative) {
  if (header.has_stem("CD", alternative)) return true;
  const auto cd = scaled_matrix(header, sky, alternative);
  if (!cd) return false;
  header.erase([&](const std::string& keyword) {
    const auto parts = split_keyword(keyword);
    return parts && parts->alternative == alternative &&
           (parts->stem == "PC" || parts->stem == "CDELT" || parts->stem == "CROTA");
  });
  for (const int i : {1, 2})
    for (const int j : {1, 2})
      header.set(numbered("CD", i, j, alternative),
                 (*cd)[static_cast<std::size_t>(i - 1)][static_cast<std::size_t>(j - 1)]);
  return true;
}

/// The order of the axes of the sky is free if a matrix leads from the pixels to them. wcslib
/// begins the polynomials of both axes with axis 1, and the convention means xi, the longitude.
void put_longitude_first(WcsHeader& header, const std::string& alternative) {
  for (std::string& card : header.cards) {
    const std::string keyword = keyword_of(card);
    auto parts = split_keyword(keyword);
    if (!parts || parts->alternative != alternative || parts->stem == "CRPIX") continue;
    const WcsRole role = role_of(keyword, parts);
    const bool moves =
        role == WcsRole::axis || role == WcsRole::matrix || role == WcsRole::parameter;
    if (!moves || parts->first < 1 || parts->first > 2) continue;
    parts->first = 3 - parts->first;
    card = renamed(card, parts->text());
  }
}

void drop_polynomial(WcsHeader& header, const std::string& alternative) {
  const auto dropped = header.erase([&](const std::string& keyword) {
    const auto parts = split_keyword(keyword);
    return parts && parts->stem == "PV" && parts->alternative == alternative;
  });
  header.notes.push_back("the distortion in " + list_of(dropped) +
                         " is not applied: CTYPE names the other one, SIP");
}

void translate_tpv(WcsHeader& header, const std::string& alternative) {
  const auto sky = header.celestial(alternative);
  if (!sky) return;
  const bool scamp = sky->code == "TAN" && is_polynomial(header, *sky, alternative);
  if (scamp && sky->sip) return drop_polynomial(header, alternative);
  if (!scamp && sky->code != "TPV") return;
  if (!use_cd_matrix(header, *sky, alternative)) return;
  for (const int axis : {1, 2}) {
    const std::string type = numbered("CTYPE", axis, alternative);
    if (scamp) {
      for (std::string& card : header.cards)
        if (keyword_of(card) == type && string_value(card).substr(0, 8).ends_with("TAN"))
          card.replace(card.find('\'') + 6, 3, "TPV");
    }
    // What is missing is 0 in the convention, but the linear term, which is 1.
    const std::string linear = numbered("PV", axis, 1, alternative);
    if (!header.has(linear)) header.set(linear, 1.0);
  }
  if (sky->latitude == 1) put_longitude_first(header, alternative);
}

}  // namespace

void translate_tpv(WcsHeader& header) {
  for (const std::string& alternative : header.alternatives()) translate_tpv(header, alternative);
}

}  // namespace kastor::io::detail
