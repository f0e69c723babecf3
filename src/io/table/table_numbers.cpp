// SPDX-License-Identifier: Apache-2.0
#include "io/table/table_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr std::array<std::string_view, 10> k_none = {"",   "--",   "-",    "~",   "NAN",
                                                     "NA", "NULL", "NONE", "N/A", "MASKED"};
constexpr std::size_t k_longest_none = 6;

bool is_none(std::string_view field) {
  if (field.size() > k_longest_none) return false;
  const auto upper = upper_case(field);
  return std::find(k_none.begin(), k_none.end(), upper) != k_none.end();
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool means_none(std::string_view field) { return is_none(without_blanks(field)); }

std::optional<double> number_of(std::string_view field) {
  field = without_blanks(field);
  if (is_none(field)) return std::numeric_limits<double>::quiet_NaN();
  if (field.starts_with('+')) field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end != field.data() + field.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too small for a double becomes 0, as everywhere; too large is an error.
    const auto exponent = field.find_first_of("eE");
    const bool small = exponent != std::string_view::npos && field.substr(exponent + 1, 1) == "-";
    return small ? std::optional(0.0) : std::nullopt;
  }
  return error == std::errc{} ? std::optional(value) : std::nullopt;
}

bool is_plain_number(std::string_view field) {
  const auto value = number_of(field);
  return value && !std::isnan(*value);
}

}  // namespace kastor::io::detail
