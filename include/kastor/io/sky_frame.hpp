// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SKY_FRAME_HPP
#define KASTOR_IO_SKY_FRAME_HPP

#include <kastor/io/wcs.hpp>
#include <optional>

namespace kastor::io {

/// What positions on the sky refer to, as tables and region files can say it: FK5 with the equinox
/// J2000, FK4 with B1950, the ecliptic of J2000.
enum class SkyFrame { icrs, fk5, fk4, galactic, ecliptic };

/// None where the coordinates are of another kind or of another equinox.
[[nodiscard]] std::optional<SkyFrame> sky_frame_of(const Wcs& wcs);

}  // namespace kastor::io

#endif
