// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/errors.hpp"

namespace kastor::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, const char* expected) {
  throw UsageError(option + ": found '" + text + "'; expected " + expected);
}

/// from_chars takes no plus sign and stops at the first odd character: neither should surprise.
template <class Number>
std::optional<Number> parse_whole(const std::string& text) {
  const char* first = text.data();
  const char* const last = first + text.size();
  if (last - first > 1 && first[0] == '+' && first[1] != '-' && first[1] != '+') ++first;
  Number value{};
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc{} || end != last) return std::nullopt;
  return value;
}

}  // namespace

RealRange finite_range() { return {-largest_real, true, largest_real, "a finite number"}; }

double parse_real(const std::string& option, const std::string& text, const RealRange& range) {
  const auto value = parse_whole<double>(text);
  // A NaN fails every comparison, so the accepted case is the one that is spelled out.
  const bool accepted = value && std::isfinite(*value) && *value <= range.high &&
                        (*value > range.low || (range.low_included && *value == range.low));
  if (!accepted) refuse(option, text, range.words);
  return *value;
}

std::int64_t parse_integer(const std::string& option, const std::string& text,
                           const IntegerRange& range) {
  const auto value = parse_whole<std::int64_t>(text);
  if (!value || *value < range.low || *value > range.high) refuse(option, text, range.words);
  return *value;
}

std::uint64_t parse_unsigned(const std::string& option, const std::string& text) {
  const auto value = parse_whole<std::uint64_t>(text);
  if (!value) refuse(option, text, "an integer from 0 to 18446744073709551615");
  return *value;
}

}  // namespace kastor::cli
