// SPDX-License-Identifier: Apache-2.0
#include "cli/options/numbers.hpp"

#include <cmath>

#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, const char* expected) {
  throw UsageError(option + ": found '" + text + "'; expected " + expected);
}

/// `text` without the plus sign before a number, which std::from_chars does not accept.
std::string_view without_plus(std::string_view text) {
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+';
  return has_plus ? text.substr(1) : text;
}

}  // namespace

RealRange finite_range() { return {-largest_real, true, largest_real, "a finite number"}; }

double parse_real(const std::string& option, const std::string& text, const RealRange& range) {
  const auto value = whole_number<double>(without_plus(text));
  // A NaN fails every comparison, so the condition states what is accepted.
  const bool accepted = value && std::isfinite(*value) && *value <= range.high &&
                        (*value > range.low || (range.low_included && *value == range.low));
  if (!accepted) refuse(option, text, range.words);
  return *value;
}

std::int64_t parse_integer(const std::string& option, const std::string& text,
                           const IntegerRange& range) {
  const auto value = whole_number<std::int64_t>(without_plus(text));
  if (!value || *value < range.low || *value > range.high) refuse(option, text, range.words);
  return *value;
}

std::int64_t parse_size(const std::string& option, const std::string& text) {
  constexpr std::string_view units = "KMGT";
  const auto unit = text.empty() ? std::string_view::npos : units.find(text.back());
  const bool has_unit = unit != std::string_view::npos;
  const int shift = has_unit ? 10 * static_cast<int>(unit + 1) : 0;
  const auto number = std::string_view(text).substr(0, text.size() - (has_unit ? 1 : 0));
  const auto value = whole_number<std::int64_t>(without_plus(number));
  if (!value || *value < 1 || *value > std::numeric_limits<std::int64_t>::max() >> shift)
    refuse(option, text, "a number of bytes, 1 or more, which may end with K, M, G or T");
  return *value << shift;
}

std::uint64_t parse_unsigned(const std::string& option, const std::string& text) {
  const auto value = whole_number<std::uint64_t>(without_plus(text));
  if (!value) refuse(option, text, "an integer from 0 to 18446744073709551615");
  return *value;
}

}  // namespace kastor::cli
