// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_UNIT_TEXT_HPP
#define KASTOR_SRC_IO_SKY_UNIT_TEXT_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// A unit with its prefix, to a power: "mJy", "arcsec-2".
struct UnitFactor {
  std::string_view symbol;    ///< in the spelling of the FITS standard, without the prefix
  int prefix = 0;             ///< power of ten
  int power = 1;              ///< never 0
  bool any_prefix_m = false;  ///< all capitals: M may be mega or milli; `prefix` is that of mega
};

/// A unit of measurement, taken apart.
struct UnitText {
  double scale = 1.0;            ///< the number before the units [> 0]
  std::optional<int> scale_ten;  ///< its logarithm if it is a power of ten
  std::vector<UnitFactor> factors;
};

/// Reads a unit as the FITS standard 4.0 spells it (section 4.3: factors in any order, joined by a
/// blank, '*' or '.', '/' before a divisor, powers after '**', '^' or nothing, a power of ten in
/// front), and as headers have it besides: any case, prefixes and names written out, "per", a
/// number in front, plurals, parentheses. None if a part is not known, or if a factor follows a
/// divisor, so that it is not clear whether it is divided by.
[[nodiscard]] std::optional<UnitText> parse_unit(std::string_view text);

/// The symbol of the SI prefix for a power of ten ("m" for -3); none if it has none.
[[nodiscard]] std::optional<std::string_view> si_prefix(int power);

/// The unit as the FITS standard spells it, which is also one of the VO's units (but for powers,
/// which those write after '**'); as typed, without outer blanks, if it is not understood, or is
/// more than one unit or one by another.
[[nodiscard]] std::string standard_unit(std::string_view text);

/// A unit of the FITS standard in the spelling of VOUnits, where a power stands after '**'.
[[nodiscard]] std::string vo_unit(std::string_view unit);

}  // namespace kastor::io::detail

#endif
