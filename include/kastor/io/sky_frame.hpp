// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SKY_FRAME_HPP
#define KASTOR_IO_SKY_FRAME_HPP

#include <kastor/io/wcs.hpp>
#include <optional>

namespace kastor::io {

/// Frames of sky positions that tables and region files can name: FK5 with equinox J2000, FK4 with
/// B1950, the ecliptic of J2000.
enum class SkyFrame { icrs, fk5, fk4, galactic, ecliptic };

/// The frame of an image's coordinates; none if it is of another kind or has another equinox.
[[nodiscard]] std::optional<SkyFrame> sky_frame_of(const Wcs& wcs);

}  // namespace kastor::io

#endif
