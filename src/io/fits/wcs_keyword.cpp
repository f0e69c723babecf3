// SPDX-License-Identifier: Apache-2.0
#include "io/fits/wcs_keyword.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "io/fits/card_values.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int take_number(std::string_view& text, std::size_t digits = 8) {
  int value = 0;
  const std::string_view number = text.substr(0, digits);
  const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end.ptr - number.data()));
  return value;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// FITS standard 4.0, tables 22 and 25.
constexpr std::array<std::string_view, 10> k_axis_stems = {
    "CTYPE", "CRVAL", "CRPIX", "CDELT", "CROTA", "CUNIT", "CNAME", "CRDER", "CSYER", "CZPHS"};
constexpr std::array<std::string_view, 2> k_matrix_stems = {"PC", "CD"};
constexpr std::array<std::string_view, 2> k_parameter_stems = {"PV", "PS"};
constexpr std::array<std::string_view, 4> k_sip_stems = {"A_", "B_", "AP_", "BP_"};
constexpr std::array<std::string_view, 8> k_sip_plain = {
    "A_DMAX", "B_DMAX", "A_ORDER", "B_ORDER", "AP_DMAX", "BP_DMAX", "AP_ORDER", "BP_ORDER"};
// Cards that describe the coordinates as a whole; they are kept or dropped together with them.
// LONGPOLE is an old form of LONPOLE.
constexpr std::array<std::string_view, 12> k_common = {
    "LONPOLE", "LATPOLE", "RADESYS", "RADECSYS", "EQUINOX", "EPOCH",
    "WCSNAME", "SPECSYS", "RESTFRQ", "RESTFREQ", "RESTWAV", "LONGPOLE"};
// IRAF's WATi_mmm; the plate solution of the Digitized Sky Survey; the drafts of paper IV.
constexpr std::array<std::string_view, 7> k_distortion_stems = {"WAT",   "AMDX", "AMDY", "CPDIS",
                                                                "CQDIS", "DP",   "DQ"};

bool is_whole(std::string_view keyword) {
  if (is_one_of(keyword, k_common)) return true;
  // RADESYSA: the same for an alternative description.
  return keyword.size() > 1 && keyword.back() >= 'A' && keyword.back() <= 'Z' &&
         is_one_of(keyword.substr(0, keyword.size() - 1), k_common);
}

/// Where the value of a card begins and ends, quotes included.
std::string_view value_of_card(std::string_view card) {
  std::string_view rest = card.substr(std::min<std::size_t>(card.size(), 10));
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  if (!rest.starts_with('\'')) {
    rest = rest.substr(0, rest.find('/'));
    return rest.substr(0, rest.find_last_not_of(' ') + 1);
  }
  std::size_t end = 1;
  while (end < rest.size()) {
    if (rest[end] != '\'') {
      ++end;
    } else if (end + 1 < rest.size() && rest[end + 1] == '\'') {
      end += 2;  // a quote in the text
    } else {
      break;
    }
  }
  return rest.substr(0, end + 1);
}

bool has_value(std::string_view card) { return card.size() >= 10 && card[8] == '='; }

}  // namespace

std::string WcsKeyword::text() const {
  return stem + std::to_string(first) + (second ? "_" + std::to_string(*second) : "") + alternative;
}

std::optional<WcsKeyword> split_keyword(std::string_view keyword) {
  const auto digit = std::find_if(keyword.begin(), keyword.end(), is_digit);
  if (digit == keyword.end()) return std::nullopt;
  WcsKeyword result;
  result.stem.assign(keyword.begin(), digit);
  std::string_view rest = keyword.substr(result.stem.size());
  if (rest.size() == 6 && is_one_of(result.stem, k_matrix_stems) &&
      std::all_of(rest.begin(), rest.end(), is_digit)) {
    result.first = take_number(rest, 3);
    result.second = take_number(rest, 3);
    result.old_matrix = true;
    return result;
  }
  result.first = take_number(rest);
  if (rest.size() > 1 && rest[0] == '_' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    result.second = take_number(rest);
  }
  if (rest.size() > 1 || (rest.size() == 1 && (rest[0] < 'A' || rest[0] > 'Z')))
    return std::nullopt;
  result.alternative = rest;
  return result;
}

WcsRole role_of(std::string_view keyword, const std::optional<WcsKeyword>& parts) {
  if (is_sip(keyword) || keyword.starts_with("D2IMDIS")) return WcsRole::distortion;
  if (is_whole(keyword)) return WcsRole::whole;
  if (!parts) return WcsRole::none;
  if (is_one_of(parts->stem, k_distortion_stems)) return WcsRole::distortion;
  if (!parts->second) {
    if (parts->stem == "PROJP" && parts->alternative.empty()) return WcsRole::projp;
    return is_one_of(parts->stem, k_axis_stems) ? WcsRole::axis : WcsRole::none;
  }
  if (is_one_of(parts->stem, k_parameter_stems)) return WcsRole::parameter;
  return is_one_of(parts->stem, k_matrix_stems) ? WcsRole::matrix : WcsRole::none;
}

bool is_sip(std::string_view keyword) {
  if (is_one_of(keyword, k_sip_plain)) return true;
  const auto parts = split_keyword(keyword);
  return parts && parts->second && is_one_of(parts->stem, k_sip_stems);
}

std::string keyword_of(std::string_view card) {
  return trimmed(card.substr(0, std::min<std::size_t>(8, card.size())));
}

std::optional<std::string> value_text(std::string_view card) {
  if (!has_value(card)) return std::nullopt;
  return std::string(value_of_card(card));
}

std::optional<double> real_value(std::string_view card) {
  if (!has_value(card)) return std::nullopt;
  const auto number = whole_number(value_of_card(card));
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::string string_value(std::string_view card) {
  const std::string_view quoted = has_value(card) ? value_of_card(card) : std::string_view{};
  if (!quoted.starts_with('\'')) return "";
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '\'') ++i;
  }
  return trimmed(text);
}

std::string with_exponent_e(std::string card) {
  if (!has_value(card)) return card;
  const std::string_view value = value_of_card(card);
  const std::size_t letter = value.find_first_of("Dd");
  if (letter == std::string_view::npos || value.starts_with('\'') || !whole_number(value))
    return card;
  card[static_cast<std::size_t>(value.data() - card.data()) + letter] = 'E';
  return card;
}

std::string renamed(std::string_view card, const std::string& keyword) {
  std::string result(card);
  std::string padded = keyword;
  padded.resize(8, ' ');
  return result.replace(0, 8, padded);
}

}  // namespace kastor::io::detail
