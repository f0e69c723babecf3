// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_SEXAGESIMAL_HPP
#define KASTOR_SRC_IO_CATALOGUE_SEXAGESIMAL_HPP

#include <optional>
#include <string_view>

namespace kastor::io::detail {

/// What the first part of a sexagesimal text counts.
enum class SexagesimalUnit { none, hours, degrees };

/// An angle as "17 45 40.04", "-29:00:28.1" or "17h45m40.04s".
struct Sexagesimal {
  /// In units of the first part (hours or degrees) over `divisor`: both are integers, so that the
  /// quotient is rounded once.
  double numerator = 0;
  double divisor = 1;
  SexagesimalUnit unit = SexagesimalUnit::none;  ///< as its letters say (h, d); none without them
  bool negative = false;                         ///< also of "-00 30 00"

  /// The angle in degrees, if the first part counts `of`.
  [[nodiscard]] double degrees(SexagesimalUnit of) const;
};

/// Parses two or three parts, of which only the last may have a fraction, separated by blanks, by
/// colons, or by h or d, m and s (or the signs of degree, minute and second); one part needs its
/// letter. None if the text has another form, or if minutes or seconds are 60 or more.
[[nodiscard]] std::optional<Sexagesimal> sexagesimal_of(std::string_view text);

}  // namespace kastor::io::detail

#endif
