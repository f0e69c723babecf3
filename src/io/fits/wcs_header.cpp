// SPDX-License-Identifier: Apache-2.0
#include "io/fits/wcs_header.hpp"

#include <algorithm>

#include "io/fits/header_text.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

enum class AxisKind { other, longitude, latitude };

/// Of the first four characters of a type: RA--, DEC-, xLON, xLAT, xyLN, xyLT.
AxisKind celestial_kind(std::string_view type) {
  if (type.size() < 8 || type[4] != '-') return AxisKind::other;
  const std::string_view name = type.substr(0, 4);
  if (name == "RA--" || name.substr(1) == "LON" || name.substr(2) == "LN")
    return AxisKind::longitude;
  if (name == "DEC-" || name.substr(1) == "LAT" || name.substr(2) == "LT")
    return AxisKind::latitude;
  return AxisKind::other;
}

bool is_card_of(std::string_view card, std::string_view keyword) {
  return card.size() >= 8 && card.starts_with(keyword) &&
         card.substr(keyword.size(), 8 - keyword.size()).find_first_not_of(' ') ==
             std::string_view::npos;
}

}  // namespace

const std::string* WcsHeader::find(std::string_view keyword) const {
  const auto found = std::find_if(cards.rbegin(), cards.rend(), [&](const std::string& card) {
    return is_card_of(card, keyword);
  });
  return found == cards.rend() ? nullptr : &*found;
}

std::optional<double> WcsHeader::real(std::string_view keyword) const {
  const std::string* card = find(keyword);
  return card == nullptr ? std::nullopt : real_value(*card);
}

std::string WcsHeader::text(std::string_view keyword) const {
  const std::string* card = find(keyword);
  return card == nullptr ? "" : string_value(*card);
}

bool WcsHeader::has_stem(std::string_view stem, std::string_view alternative) const {
  return std::any_of(cards.begin(), cards.end(), [&](const std::string& card) {
    if (!card.starts_with(stem)) return false;
    const auto parts = split_keyword(keyword_of(card));
    return parts && parts->stem == stem && parts->alternative == alternative;
  });
}

void WcsHeader::set(const std::string& keyword, double value) {
  const std::string card = real_card(keyword, value);
  if (const std::string* found = find(keyword)) {
    cards[static_cast<std::size_t>(found - cards.data())] = card;
  } else {
    cards.push_back(card);
  }
}

std::vector<std::string> WcsHeader::erase(
    const std::function<bool(const std::string& keyword)>& chosen) {
  std::vector<std::string> erased;
  std::erase_if(cards, [&](const std::string& card) {
    std::string keyword = keyword_of(card);
    if (!chosen(keyword)) return false;
    erased.push_back(std::move(keyword));
    return true;
  });
  return erased;
}

std::vector<std::string> WcsHeader::alternatives() const {
  std::vector<std::string> found{""};
  for (const std::string& card : cards) {
    if (!card.starts_with("CTYPE")) continue;
    const auto parts = split_keyword(keyword_of(card));
    if (parts && std::find(found.begin(), found.end(), parts->alternative) == found.end())
      found.push_back(parts->alternative);
  }
  return found;
}

std::optional<CelestialAxes> WcsHeader::celestial(const std::string& alternative) const {
  CelestialAxes axes;
  for (const int axis : {1, 2}) {
    const std::string type = text("CTYPE" + std::to_string(axis) + alternative);
    const AxisKind kind = celestial_kind(type);
    if (kind == AxisKind::other) return std::nullopt;
    (kind == AxisKind::longitude ? axes.longitude : axes.latitude) = axis;
    axes.code = type.substr(5, 3);
    axes.sip = axes.sip || type.substr(8) == "-SIP";
  }
  if (axes.longitude == 0 || axes.latitude == 0) return std::nullopt;
  return axes;
}

std::string list_of(const std::vector<std::string>& keywords) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, keywords.size()); ++i)
    text += (i == 0 ? "" : ", ") + keywords[i];
  if (keywords.size() > most) text += ", ... (" + std::to_string(keywords.size()) + " cards)";
  return text;
}

std::string found_in(std::string_view card) {
  const auto value = value_text(card);
  const std::string keyword = one_line(keyword_of(card));
  if (!value || value->empty()) return keyword + " has no value";
  const bool text = value->starts_with('\'');
  return keyword + " is " + (text ? "'" + one_line(string_value(card)) + "'" : one_line(*value));
}

std::string real_card(const std::string& keyword, double value, std::string_view comment) {
  HeaderText text;
  text.add_real(keyword, value, comment);
  return text.finish().substr(0, 80);
}

}  // namespace kastor::io::detail
