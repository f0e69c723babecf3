// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_NUMBERS_HPP
#define KASTOR_APPS_CLI_NUMBERS_HPP

#include <cstdint>
#include <limits>
#include <string>

namespace kastor::cli {

/// The numbers an option takes, and how to say so.
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

/// Where a range without an end ends.
inline constexpr double largest_real = std::numeric_limits<double>::max();

/// Any finite number.
[[nodiscard]] RealRange finite_range();

/// The whole of `text` as a number, independent of the locale.
/// \throws UsageError naming `option` if it does not parse, is NaN or infinite, or lies outside.
[[nodiscard]] double parse_real(const std::string& option, const std::string& text,
                                const RealRange& range);
[[nodiscard]] std::int64_t parse_integer(const std::string& option, const std::string& text,
                                         const IntegerRange& range);
[[nodiscard]] std::uint64_t parse_unsigned(const std::string& option, const std::string& text);

}  // namespace kastor::cli

#endif
