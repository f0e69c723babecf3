// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "io/fits/card_values.hpp"
#include "io/fits/wcs_forms.hpp"
#include "io/fits/wcs_keyword.hpp"

namespace kastor::io::detail {
namespace {

/// The form of the standard; empty for a keyword that has it already, or has none.
std::string standard_form(const std::string& keyword, const std::optional<CelestialAxes>& sky) {
  if (keyword == "LONGPOLE") return "LONPOLE";
  const auto parts = split_keyword(keyword);
  if (!parts) return "";
  if (parts->old_matrix) return parts->text();
  const bool projp = role_of(keyword, parts) == WcsRole::projp && sky;
  return projp ? "PV" + std::to_string(sky->latitude) + "_" + std::to_string(parts->first) : "";
}

/// The year in a string: '2000.0', 'J2000', 'B1950'. None also where the letter contradicts the
/// frame that the standard derives from the year (section 8.3).
std::optional<double> year_of(std::string_view text) {
  const bool julian = text.starts_with('J');
  const bool besselian = text.starts_with('B');
  if (julian || besselian) text.remove_prefix(1);
  const auto year = whole_number(text);
  if (!year || !std::isfinite(*year)) return std::nullopt;
  const bool contradicts = (julian && *year < 1984.0) || (besselian && *year >= 1984.0);
  return contradicts ? std::nullopt : year;
}

void translate_year(std::string& card) {
  const std::string keyword = keyword_of(card);
  if (!keyword.starts_with("EQUINOX") && !keyword.starts_with("EPOCH")) return;
  if (const auto year = year_of(string_value(card))) card = real_card(keyword, *year);
}

}  // namespace

void translate_old_forms(WcsHeader& header) {
  const auto sky = header.celestial("");
  // A matrix in both notations: the CD matrix includes the scale and needs no other card.
  const bool has_cd = header.has_stem("CD", "");
  std::vector<std::string> unused;
  std::vector<std::string> different;
  for (std::string& card : header.cards) {
    translate_year(card);
    const std::string old = keyword_of(card);
    const std::string form = standard_form(old, sky);
    if (form.empty()) continue;
    if (!header.has(form) && !(has_cd && form.starts_with("PC"))) {
      card = renamed(card, form);
      continue;
    }
    unused.push_back(old);
    if (real_value(card) != header.real(form)) different.push_back(old);
  }
  if (!unused.empty()) {
    header.erase([&](const std::string& keyword) {
      return std::find(unused.begin(), unused.end(), keyword) != unused.end();
    });
  }
  if (!different.empty())
    header.notes.push_back(list_of(different) +
                           " of the header: not used beside newer keywords for the same");
  const auto left =
      header.erase([](const std::string& keyword) { return keyword.starts_with("PROJP"); });
  if (!left.empty())
    header.notes.push_back(list_of(left) + " of the header: not used without a projection");
}

}  // namespace kastor::io::detail
