// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_UNIT_RATIO_HPP
#define KASTOR_IO_UNIT_RATIO_HPP

#include <optional>
#include <string_view>

namespace kastor::io {

/// Brings values from one unit to another. If the two differ by prefixes alone (mJy and Jy), one of
/// the factors is 1 and the other a power of ten, which is exact up to 1e22: a value is rounded
/// once.
struct UnitRatio {
  double times = 1;  ///< values are multiplied by this [finite, > 0]
  double by = 1;     ///< and divided by this [finite, > 0]

  [[nodiscard]] double operator()(double value) const { return value * times / by; }
};

/// What brings values in the unit `from` to the unit `to`, raised to `power` (2 for variances, -2
/// for their inverses). Units are read as the FITS standard 4.0 (section 4.3) spells them and as
/// headers have them besides; sr, deg2, arcmin2 and arcsec2 are converted into each other. None if
/// the units are of different kinds. Units that are not understood match only if they are spelled
/// alike, and so do those with the prefix M in capitals, which may be mega or milli (MJY/BEAM).
[[nodiscard]] std::optional<UnitRatio> unit_ratio(std::string_view from, std::string_view to,
                                                  int power = 1);

}  // namespace kastor::io

#endif
