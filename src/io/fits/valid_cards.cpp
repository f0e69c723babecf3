// SPDX-License-Identifier: Apache-2.0
#include "io/fits/valid_cards.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "io/fits/header_text.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::size_t k_longest_repair = 34;  // of a string that was not closed, all quotes

std::string keyword_in(std::string_view card) { return trimmed(card.substr(0, 8)); }

bool has_no_value(std::string_view keyword) {
  return keyword.empty() || keyword == "HISTORY" || keyword == "COMMENT" || keyword == "CONTINUE";
}

std::string as_card(std::string_view keyword, std::string_view rest) {
  std::string card(keyword);
  card.resize(8, ' ');
  card += "= " + std::string(rest);
  card.resize(80, ' ');
  return card;
}

/// A string without its closing quote: it ends where the text does.
std::string closed_string(std::string_view keyword, std::string_view text) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    value += text[i];
    if (text[i] == '\'' && i + 1 < text.size()) ++i;  // doubled
  }
  HeaderText header;
  header.add_string(keyword, trimmed(value).substr(0, k_longest_repair));
  return header.finish().substr(0, 80);
}

/// Position of the closing quote of a text that begins with one; npos if there is none.
std::size_t closing_quote(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '\'') continue;
    if (i + 1 < text.size() && text[i + 1] == '\'') {
      ++i;
    } else {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Whether this is an integer or a real number, the exponent in capitals.
bool is_fits_number(std::string_view text) {
  const auto skip = [&text](std::string_view any_of) {
    if (!text.empty() && any_of.find(text.front()) != std::string_view::npos) {
      text.remove_prefix(1);
      return true;
    }
    return false;
  };
  const auto digits = [&] {
    std::size_t count = 0;
    while (skip("0123456789")) ++count;
    return count;
  };
  (void)skip("+-");
  std::size_t count = digits();
  if (skip(".")) count += digits();
  if (count == 0) return false;
  if (text.empty()) return true;
  if (!skip("ED")) return false;
  (void)skip("+-");
  return digits() > 0 && text.empty();
}

struct CardGroup {  // a card and those that continue it
  std::string keyword;
  std::vector<std::string> cards;
};

/// The matrix that a keyword belongs to: "PC", "CD" or "CROTA", and the letter of the description.
std::pair<std::string, std::string> matrix_of(std::string_view keyword) {
  for (const std::string_view stem : {"PC", "CD", "CROTA"}) {
    if (!keyword.starts_with(stem) || keyword.size() == stem.size()) continue;
    const auto end = keyword.find_first_not_of("0123456789_", stem.size());
    if (end == stem.size()) continue;
    if (end == std::string_view::npos) return {std::string(stem), ""};
    if (end + 1 == keyword.size()) return {std::string(stem), std::string(keyword.substr(end))};
  }
  return {};
}

std::vector<CardGroup> grouped(const std::vector<std::string>& cards, std::set<std::string>& bad) {
  std::vector<CardGroup> groups;
  bool follows = false;  // whether CONTINUE has something to continue
  for (const std::string& card : cards) {
    const std::string keyword = keyword_in(card);
    if (keyword == "CONTINUE") {
      if (follows) groups.back().cards.push_back(card);
      continue;
    }
    const auto repaired = repaired_card(card);
    follows = repaired.has_value();
    if (follows) {
      groups.push_back({keyword, {*repaired}});
    } else {
      bad.insert(keyword);
    }
  }
  return groups;
}

/// Drops all groups of a keyword but the one that is used: the first of a beam's, the last of the
/// coordinates' (as wcslib does) and of others.
void drop_repeated(std::vector<CardGroup>& groups) {
  std::map<std::string, std::size_t> used;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const std::string& keyword = groups[i].keyword;
    const bool first = keyword == "BMAJ" || keyword == "BMIN" || keyword == "BPA";
    if (!first || !used.contains(keyword)) used[keyword] = i;
  }
  std::size_t at = 0;
  std::erase_if(groups, [&](const CardGroup& group) {
    const std::size_t here = at++;
    return !has_no_value(group.keyword) && used[group.keyword] != here;
  });
}

/// Beside PC the standard allows neither CD nor CROTA (section 8.2); wcslib goes by PC then.
void drop_contradictions(std::vector<CardGroup>& groups) {
  std::set<std::pair<std::string, std::string>> there;
  bool equinox = false;
  for (const CardGroup& group : groups) {
    there.insert(matrix_of(group.keyword));
    equinox = equinox || group.keyword == "EQUINOX";
  }
  std::erase_if(groups, [&](const CardGroup& group) {
    const auto [stem, letter] = matrix_of(group.keyword);
    if (stem == "CD" || stem == "CROTA") return there.contains({"PC", letter});
    return group.keyword == "EPOCH" && equinox;
  });
  for (CardGroup& group : groups) {
    if (group.keyword == "EPOCH") group.cards.front().replace(0, 8, "EQUINOX ");
  }
}

}  // namespace

std::optional<std::string> repaired_card(std::string_view card) {
  const std::string keyword = keyword_in(card);
  if (has_no_value(keyword) || card.size() < 10 || card[8] != '=') return std::string(card);
  const bool indicated = card[9] == ' ';
  const std::string rest = trimmed(card.substr(indicated ? 10 : 9));
  const auto first = rest.find_first_not_of(' ');
  if (first == std::string::npos) return std::nullopt;
  const std::string_view text = std::string_view(rest).substr(first);
  if (text.front() == '\'') {
    if (closing_quote(text) == std::string_view::npos) return closed_string(keyword, text);
    return indicated ? std::string(card) : as_card(keyword, text);
  }
  const std::string typed = trimmed(text.substr(0, text.find('/')));
  const std::string value = upper_case(typed);
  if (value != "T" && value != "F" && !is_fits_number(value)) return std::nullopt;
  if (value == typed && indicated) return std::string(card);
  return as_card(keyword, value + std::string(text.substr(typed.size())));
}

std::vector<std::string> valid_cards(const std::vector<std::string>& cards) {
  std::set<std::string> bad;
  auto groups = grouped(cards, bad);
  drop_repeated(groups);
  drop_contradictions(groups);
  std::vector<std::string> result;
  for (CardGroup& group : groups) {
    for (std::string& card : group.cards) result.push_back(std::move(card));
  }
  for (const std::string& keyword : bad) {
    std::string note = "HISTORY left out, since its value in the input is not valid: " + keyword;
    note.resize(80, ' ');
    result.push_back(note);
  }
  return result;
}

}  // namespace kastor::io::detail
