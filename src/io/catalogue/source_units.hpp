// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_SOURCE_UNITS_HPP
#define KASTOR_SRC_IO_CATALOGUE_SOURCE_UNITS_HPP

#include <optional>
#include <string>
#include <string_view>

#include "io/catalogue/sexagesimal.hpp"

namespace kastor::io::detail {

/// A unit as a factor times a base unit.
struct ScaledUnit {
  double factor = 1;
  std::string base;  ///< "Jy", "deg", "arcsec", "pixel", another one as written, or empty
};

/// "mJy/beam" is 0.001 Jy: the column decides whether it is per beam.
[[nodiscard]] ScaledUnit scaled_flux_unit(std::string_view unit);
/// Degrees per unit, in any of the usual spellings (`degrees`, `"deg"`, `Angle[deg]`); none if it
/// is not a unit of angle. An empty unit means degrees.
[[nodiscard]] std::optional<double> degrees_per(std::string_view unit);
/// Whether it is a unit of time that stands for an angle: h, hour, hourangle.
[[nodiscard]] bool is_hours(std::string_view unit);
/// Whether it is a spelling of pixel. An empty unit is not.
[[nodiscard]] bool is_pixel_unit(std::string_view unit);
/// What a unit such as "h:m:s" or "d:m:s" says of a sexagesimal text.
[[nodiscard]] SexagesimalUnit sexagesimal_unit(std::string_view unit);

}  // namespace kastor::io::detail

#endif
