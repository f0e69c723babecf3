// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_NUMBERS_HPP
#define KASTOR_APPS_CLI_OPTIONS_NUMBERS_HPP

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace kastor::cli {

/// The numbers that an option takes, and the words for them in a message.
struct RealRange {
  double low;
  bool low_included;
  double high;  ///< included
  const char* words;
};

struct IntegerRange {
  std::int64_t low;
  std::int64_t high;  ///< both included
  const char* words;
};

/// The end of a range without an upper limit.
inline constexpr double largest_real = std::numeric_limits<double>::max();

/// Any finite number.
[[nodiscard]] RealRange finite_range();

/// All of `text` as a number, independent of the locale; none if it is not a number, has a plus
/// sign, or does not fit the type.
template <class Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A `whole_number()`, optionally with a plus sign.
/// \throws UsageError naming `option` if it does not parse, is NaN or infinite, or is out of range.
[[nodiscard]] double parse_real(const std::string& option, const std::string& text,
                                const RealRange& range);
[[nodiscard]] std::int64_t parse_integer(const std::string& option, const std::string& text,
                                         const IntegerRange& range);
/// "N" bytes, 1 or more, or "NK", "NM", "NG" and "NT" for multiples of powers of 1024.
[[nodiscard]] std::int64_t parse_size(const std::string& option, const std::string& text);
[[nodiscard]] std::uint64_t parse_unsigned(const std::string& option, const std::string& text);

}  // namespace kastor::cli

#endif
