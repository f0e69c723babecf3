// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/sexagesimal.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "io/table/table_numbers.hpp"

namespace kastor::io::detail {
namespace {

// With more digits the integers would not be exact in a double.
constexpr std::size_t k_most_decimals = 9;
constexpr std::size_t k_most_digits = 4;  // before the point

/// The text with one ASCII character for each sign: h, d, m, s, '-'.
std::string in_letters(std::string_view text) {
  using Sign = std::pair<std::string_view, char>;
  constexpr std::array<Sign, 12> signs = {
      Sign{"\xCA\xB0", 'h'},     Sign{"\xE1\xB5\x90", 'm'}, Sign{"\xCB\xA2", 's'},
      Sign{"\xC2\xB0", 'd'},     Sign{"\xC2\xBA", 'd'},     Sign{"\xE2\x80\xB2", 'm'},
      Sign{"\xE2\x80\xB3", 's'}, Sign{"\xE2\x80\x99", 'm'}, Sign{"\xE2\x80\x9D", 's'},
      Sign{"\xE2\x88\x92", '-'}, Sign{"''", 's'},           Sign{"'", 'm'}};
  std::string result;
  while (!text.empty()) {
    std::size_t length = 1;
    char letter = text.front();
    for (const auto& [sign, meaning] : signs) {
      if (!text.starts_with(sign)) continue;
      length = sign.size();
      letter = meaning;
      break;
    }
    if (letter == '"') letter = 's';
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    result += letter;
    text.remove_prefix(length);
  }
  return result;
}

/// Digits with a fraction: `digits` over 10^`decimals`.
struct Part {
  std::int64_t digits = 0;
  std::size_t decimals = 0;
  bool has_point = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : m_rest(text) {}

  std::optional<Sexagesimal> parse() {
    Sexagesimal found;
    found.negative = m_rest.starts_with('-');
    if (found.negative || m_rest.starts_with('+')) m_rest.remove_prefix(1);
    skip_blanks();
    std::array<Part, 3> parts;
    std::size_t count = 0;
    char style = 0;  // what follows the first part: ' ', ':' or 'a' for a letter
    while (count < 3 && !m_rest.empty()) {
      if (count > 0 && parts[count - 1].has_point) return std::nullopt;
      if (!take_part(parts[count])) return std::nullopt;
      const char mark = take_mark(count);
      if (mark == '?') return std::nullopt;
      if (count == 0 && mark == 'h') found.unit = SexagesimalUnit::hours;
      if (count == 0 && mark == 'd') found.unit = SexagesimalUnit::degrees;
      const char kind = mark == ' ' || mark == ':' ? mark : 'a';
      if (count == 0) style = kind;
      const bool last = m_rest.empty();
      // The letter after the last part may be left out; a colon must be followed by a part.
      if (last ? mark == ':' || (kind == 'a' && style != 'a') : kind != style) return std::nullopt;
      ++count;
    }
    if (!m_rest.empty() || count == 0 || (count == 1 && style != 'a')) return std::nullopt;
    return combined(found, parts, count);
  }

 private:
  void skip_blanks() {
    while (!m_rest.empty() && (m_rest.front() == ' ' || m_rest.front() == '\t'))
      m_rest.remove_prefix(1);
  }

  bool take_part(Part& part) {
    std::size_t before = 0;
    for (; !m_rest.empty() && is_digit(m_rest.front()); m_rest.remove_prefix(1), ++before)
      part.digits = 10 * part.digits + (m_rest.front() - '0');
    if (before == 0 || before > k_most_digits) return false;
    if (!m_rest.starts_with('.')) return true;
    part.has_point = true;
    m_rest.remove_prefix(1);
    for (; !m_rest.empty() && is_digit(m_rest.front()); m_rest.remove_prefix(1)) {
      if (part.decimals == k_most_decimals) continue;  // below 1e-9 arcsec
      part.digits = 10 * part.digits + (m_rest.front() - '0');
      ++part.decimals;
    }
    return true;
  }

  /// What follows a part: its letter, ':' or ' '; '?' if it is anything else.
  char take_mark(std::size_t part) {
    constexpr std::array<std::string_view, 3> letters = {"hd", "m", "s"};
    const bool blank = m_rest.starts_with(' ') || m_rest.starts_with('\t');
    skip_blanks();
    if (m_rest.empty()) return ' ';
    const char c = m_rest.front();
    const bool is_mark = letters[part].find(c) != std::string_view::npos || c == ':';
    if (!is_mark) return blank && is_digit(c) ? ' ' : '?';
    m_rest.remove_prefix(1);
    skip_blanks();
    return c;
  }

  static std::optional<Sexagesimal> combined(Sexagesimal found, const std::array<Part, 3>& parts,
                                             std::size_t count) {
    constexpr std::array<std::int64_t, 3> weights = {3600, 60, 1};  // in seconds
    const auto& last = parts[count - 1];
    std::int64_t scale = 1;
    for (std::size_t i = 0; i < last.decimals; ++i) scale *= 10;
    std::int64_t sum = last.digits * weights[count - 1];
    for (std::size_t i = 0; i + 1 < count; ++i) sum += parts[i].digits * weights[i] * scale;
    for (std::size_t i = 1; i < count; ++i) {
      const std::int64_t limit = 60 * (i + 1 == count ? scale : 1);
      if (parts[i].digits >= limit) return std::nullopt;
    }
    found.numerator = static_cast<double>(sum);
    found.divisor = static_cast<double>(3600 * scale);
    return found;
  }

  std::string_view m_rest;
};

}  // namespace

double Sexagesimal::degrees(SexagesimalUnit of) const {
  const double value =
      of == SexagesimalUnit::hours ? numerator / (divisor / 15) : numerator / divisor;
  return negative ? -value : value;
}

std::optional<Sexagesimal> sexagesimal_of(std::string_view text) {
  const std::string letters = in_letters(without_blanks(text));
  return Parser(letters).parse();
}

}  // namespace kastor::io::detail
