// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/sky_frame.hpp>
#include <string>

namespace kastor::io {

std::optional<SkyFrame> sky_frame_of(const Wcs& wcs) {
  const std::string frame = wcs.frame();
  switch (wcs.system()) {
    case SkySystem::galactic:
      return SkyFrame::galactic;
    case SkySystem::equatorial:
      if (frame == "ICRS") return SkyFrame::icrs;
      if (frame == "FK5" && wcs.equinox() == 2000.0) return SkyFrame::fk5;
      if (frame == "FK4" && wcs.equinox() == 1950.0) return SkyFrame::fk4;
      return std::nullopt;
    case SkySystem::ecliptic:
      // The ecliptics of ICRS and of FK5 at J2000 agree to 0.03 arcsec.
      if (frame == "ICRS" || (frame == "FK5" && wcs.equinox() == 2000.0)) return SkyFrame::ecliptic;
      return std::nullopt;
    case SkySystem::other:
      break;
  }
  return std::nullopt;
}

}  // namespace kastor::io
