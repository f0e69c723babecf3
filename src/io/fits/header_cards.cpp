// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <kastor/io/fits_writer.hpp>
#include <string_view>

#include "io/fits/wcs_header.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using detail::keyword_of;
using detail::real_card;
using detail::real_value;
using detail::split_keyword;

/// The axis of a card whose keyword is STEM1 or STEM2, with this alternative letter; else 0.
int axis_of(std::string_view card, std::string_view stem, std::string_view alternative) {
  const auto parts = split_keyword(keyword_of(card));
  const bool ours = parts && !parts->second && parts->stem == stem &&
                    parts->alternative == alternative && (parts->first == 1 || parts->first == 2);
  return ours ? parts->first : 0;
}

std::string comment_of(std::string_view card) {
  const auto slash = card.find('/');
  return slash == std::string_view::npos ? "" : detail::trimmed(card.substr(slash + 1));
}

}  // namespace

std::vector<std::string> moved_cards(const std::vector<std::string>& cards, double dx, double dy) {
  std::vector<std::string> moved = cards;
  const std::array<double, 2> shift{dx, dy};
  constexpr std::string_view alternatives = " ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const char letter : alternatives) {
    const std::string alternative = letter == ' ' ? "" : std::string(1, letter);
    for (const int axis : {1, 2}) {
      const double by = shift[static_cast<std::size_t>(axis - 1)];
      if (by == 0) continue;
      const std::string keyword = "CRPIX" + std::to_string(axis) + alternative;
      bool found = false;
      bool described = false;
      for (std::string& card : moved) {
        described = described || axis_of(card, "CTYPE", alternative) == axis ||
                    axis_of(card, "CRVAL", alternative) == axis;
        if (axis_of(card, "CRPIX", alternative) != axis) continue;
        found = true;
        // What is not a number stays as it is: coordinates that nobody can use.
        if (const auto at = real_value(card)) card = real_card(keyword, *at + by, comment_of(card));
      }
      if (described && !found) moved.push_back(real_card(keyword, by, "reference pixel"));
    }
  }
  return moved;
}

std::vector<std::string> cards_without_beam(const std::vector<std::string>& cards) {
  std::vector<std::string> kept;
  for (const std::string& card : cards) {
    const std::string keyword = keyword_of(card);
    if (keyword != "BMAJ" && keyword != "BMIN" && keyword != "BPA") kept.push_back(card);
  }
  return kept;
}

}  // namespace kastor::io
