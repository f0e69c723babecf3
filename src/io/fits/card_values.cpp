// SPDX-License-Identifier: Apache-2.0
#include "io/fits/card_values.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "io/text.hpp"

namespace kastor::io::detail {

namespace {

/// The number at the beginning of a text, and its length in characters.
std::optional<std::pair<double, std::size_t>> parse(std::string_view text) {
  const std::size_t sign = text.starts_with('+') ? 1 : 0;
  std::string number(text.substr(sign));
  // Only characters that belong to the number: "1.5D-2 DEG".
  const auto end = std::min(number.find_first_not_of("+-.0123456789DEde"), number.size());
  for (std::size_t i = 0; i < end; ++i) {
    if (number[i] == 'D' || number[i] == 'd') number[i] = 'E';
  }
  double value = 0;
  const auto result = std::from_chars(number.data(), number.data() + end, value);
  if (result.ec != std::errc{}) return std::nullopt;
  return std::pair{value, sign + static_cast<std::size_t>(result.ptr - number.data())};
}

}  // namespace

std::optional<double> leading_number(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  const auto parsed = parse(text.substr(first));
  return parsed ? std::optional(parsed->first) : std::nullopt;
}

std::optional<double> whole_number(std::string_view text) {
  const auto parsed = parse(text);
  return parsed && parsed->second == text.size() ? std::optional(parsed->first) : std::nullopt;
}

std::optional<std::string> card_text(const std::vector<std::string>& cards,
                                     std::string_view keyword) {
  for (const std::string& card : cards) {
    if (card.size() < 10 || card[8] != '=' || trimmed(card.substr(0, 8)) != keyword) continue;
    return trimmed(card.substr(9));
  }
  return std::nullopt;
}

std::vector<std::string> history_lines(const std::vector<std::string>& cards) {
  std::vector<std::string> lines;
  for (const std::string& card : cards) {
    if (!card.starts_with("HISTORY")) continue;
    std::string text = trimmed(std::string_view(card).substr(7));
    text.erase(0, text.find_first_not_of(' '));
    if (text.starts_with('>') && !lines.empty()) {
      lines.back() += text.substr(1);
    } else {
      lines.push_back(std::move(text));
    }
  }
  return lines;
}

}  // namespace kastor::io::detail
