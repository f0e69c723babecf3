// SPDX-License-Identifier: Apache-2.0
#include "io/sky/unit_text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "io/sky/unit_words.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

// No unit has a higher power, and no scale of a header is further from 1.
constexpr int k_highest_power = 9;
constexpr int k_highest_product = 99;  // of nested powers
constexpr int k_highest_scale = 60;

bool is_digit_of_unit(char c) { return c >= '0' && c <= '9'; }

/// Letters, and the bytes of a micro sign.
bool is_letter_of_unit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool opens_group(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes_group(char c) { return c == ')' || c == ']' || c == '}'; }

/// Reads a unit from left to right. Every function returns false if the text is not a unit.
class UnitReader {
 public:
  explicit UnitReader(std::string_view text) : m_rest(text) {}

  [[nodiscard]] std::optional<UnitText> read() {
    if (!take_scale() || !take_product(1)) return std::nullopt;
    if (!m_rest.empty() || m_unit.factors.empty()) return std::nullopt;
    return m_unit;
  }

 private:
  void skip_blanks() {
    while (m_rest.starts_with(' ')) m_rest.remove_prefix(1);
  }
  bool take(std::string_view text) {
    if (!m_rest.starts_with(text)) return false;
    m_rest.remove_prefix(text.size());
    return true;
  }

  /// A signed integer; false, and nothing is taken, if there is none.
  bool take_integer(int& value) {
    const std::string_view digits = m_rest.substr(m_rest.starts_with('+') ? 1 : 0);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{}) return false;
    m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
    return true;
  }

  /// "**2", "^(-1)", "-1", "2", or nothing, which is a power of 1.
  bool take_power(int& power, int highest) {
    power = 1;
    const std::string_view before = m_rest;
    skip_blanks();
    const bool marked = take("**") || take("^");
    if (!marked) {
      const bool close = m_rest.size() == before.size();
      const bool is_signed = m_rest.starts_with('-') || m_rest.starts_with('+');
      const bool is_power =
          !m_rest.empty() && (is_signed || (close && is_digit_of_unit(m_rest.front())));
      if (!is_power) return true;  // the blanks do no harm
    }
    skip_blanks();
    const bool bracketed = !m_rest.empty() && opens_group(m_rest.front());
    if (bracketed) m_rest.remove_prefix(1);
    if (!take_integer(power) || power == 0) return false;
    if (power < -highest || power > highest) return false;
    if (!bracketed) return true;
    if (m_rest.empty() || !closes_group(m_rest.front())) return false;
    m_rest.remove_prefix(1);
    return true;
  }

  /// "1e-3", "10**-3", "0.001*", or nothing.
  bool take_scale() {
    skip_blanks();
    if (m_rest.empty() || !(is_digit_of_unit(m_rest.front()) || m_rest.front() == '.')) return true;
    const auto [end, error] =
        std::from_chars(m_rest.data(), m_rest.data() + m_rest.size(), m_unit.scale);
    if (error != std::errc{} || !(m_unit.scale > 0) || !std::isfinite(m_unit.scale)) return false;
    m_rest.remove_prefix(static_cast<std::size_t>(end - m_rest.data()));
    if (m_unit.scale == 10) {
      int power = 1;
      if (!take_power(power, k_highest_scale)) return false;
      m_unit.scale = ten_to(power);
    }
    for (int power = -k_highest_scale; power <= k_highest_scale; ++power) {
      if (m_unit.scale == ten_to(power)) m_unit.scale_ten = power;
    }
    skip_blanks();
    (void)(take("*") || take("."));
    return true;
  }

  /// The double nearest to the power of ten, which pow() need not give.
  static double ten_to(int power) {
    const std::string text = fmt::format("1e{}", power);
    double value = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  /// Factors up to the end or a closing bracket. `sign` is -1 within a divisor.
  bool take_product(int sign) {
    bool divided = false;
    for (;;) {
      skip_blanks();
      if (m_rest.empty() || closes_group(m_rest.front())) return true;
      if (take("*") || take(".")) skip_blanks();
      const bool divides = take("/") || take_word("PER");
      // In "Jy/beam km/s" it is not clear what the km divides.
      if (divided && !divides) return false;
      divided = divides;
      if (!take_factor(divides ? -sign : sign)) return false;
    }
  }

  bool take_factor(int sign) {
    skip_blanks();
    if (m_rest.empty()) return false;
    const std::size_t first = m_unit.factors.size();
    if (opens_group(m_rest.front())) {
      if (++m_depth > k_highest_power) return false;
      m_rest.remove_prefix(1);
      if (!take_product(sign) || m_rest.empty()) return false;
      m_rest.remove_prefix(1);
      --m_depth;
      return raise(first, 1);
    }
    const bool square = take_word("SQ") || take_word("SQUARE");
    if (square && !take(".")) skip_blanks();
    const std::string_view word = m_rest.substr(0, word_length());
    const auto factors = unit_word(word);
    if (factors.empty()) return false;
    m_rest.remove_prefix(word.size());
    m_unit.factors.insert(m_unit.factors.end(), factors.begin(), factors.end());
    for (std::size_t i = first; i < m_unit.factors.size(); ++i) m_unit.factors[i].power *= sign;
    // Of two units in one word the power is the last one's.
    return raise(m_unit.factors.size() - 1, square ? 2 : 1);
  }

  /// Applies the power that follows to the factors from `first` on.
  bool raise(std::size_t first, int by) {
    int power = 1;
    if (!take_power(power, k_highest_power)) return false;
    for (std::size_t i = first; i < m_unit.factors.size(); ++i) {
      const int product = m_unit.factors[i].power * power * by;
      if (product < -k_highest_product || product > k_highest_product) return false;
      m_unit.factors[i].power = product;
    }
    return true;
  }

  [[nodiscard]] std::size_t word_length() const {
    std::size_t length = 0;
    while (length < m_rest.size() && is_letter_of_unit(m_rest[length])) ++length;
    return length;
  }

  bool take_word(std::string_view upper) {
    const std::size_t length = word_length();
    if (upper_case(m_rest.substr(0, length)) != upper) return false;
    m_rest.remove_prefix(length);
    return true;
  }

  std::string_view m_rest;
  UnitText m_unit;
  int m_depth = 0;
};

std::string spelt(const UnitFactor& factor, std::string_view prefix) {
  const int power = std::abs(factor.power);
  return fmt::format("{}{}{}", prefix, factor.symbol, power == 1 ? "" : fmt::format("{}", power));
}

bool is_solid_angle(const UnitFactor& factor) {
  if (factor.symbol == "sr") return true;
  return factor.power % 2 == 0 &&
         (factor.symbol == "arcsec" || factor.symbol == "arcmin" || factor.symbol == "deg");
}

}  // namespace

std::optional<UnitText> parse_unit(std::string_view text) { return UnitReader(text).read(); }

std::string standard_unit(std::string_view text) {
  std::string typed = trimmed(text);
  const auto unit = parse_unit(typed);
  if (!unit) return typed;
  const UnitFactor* above = nullptr;
  const UnitFactor* below = nullptr;
  for (const UnitFactor& factor : unit->factors) {
    const UnitFactor*& place = factor.power > 0 ? above : below;
    if (place != nullptr) return typed;
    place = &factor;
  }
  if (above == nullptr || (unit->scale != 1 && !unit->scale_ten)) return typed;
  if (above->any_prefix_m && !(below != nullptr && is_solid_angle(*below))) return typed;
  // A scale becomes the prefix, where there is one.
  int ten = unit->scale_ten.value_or(0);
  auto prefix = si_prefix(above->prefix);
  if (ten != 0 && above->symbol == "Jy" && above->power == 1) {
    if (const auto scaled = si_prefix(above->prefix + ten)) {
      prefix = scaled;
      ten = 0;
    }
  }
  std::string result = ten == 0 ? "" : fmt::format("10**{} ", ten);
  result += spelt(*above, prefix.value_or(""));
  if (below != nullptr) result += "/" + spelt(*below, si_prefix(below->prefix).value_or(""));
  return result;
}

std::string vo_unit(std::string_view unit) {
  if (!parse_unit(unit)) return std::string(unit);
  std::string result;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool starts_power = i > 0 && is_digit_of_unit(unit[i]) && is_letter_of_unit(unit[i - 1]);
    if (starts_power) result += "**";
    result += unit[i];
  }
  return result;
}

}  // namespace kastor::io::detail
