// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_BEAM_HPP
#define KASTOR_IO_BEAM_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io {

/// A beam, or point spread function: an elliptical Gaussian.
struct Beam {
  double major_deg;           ///< full width at half maximum [deg]
  double minor_deg;           ///< full width at half maximum [deg]
  double position_angle_deg;  ///< north through east [deg]; NaN if the header has no BPA
};

/// Where a beam comes from.
enum class BeamOrigin { none, header, history, user };

/// A beam that can be used: major >= minor > 0, position angle from 0 to below 180.
struct BeamReading {
  std::optional<Beam> beam;              ///< none if none was found, or it cannot be used
  BeamOrigin origin = BeamOrigin::none;  ///< where it was found
  std::vector<std::string> notes;        ///< what was odd about it: one sentence each
};

/// The beam of an image, from its header cards (`FitsImage::header_cards`): BMAJ, BMIN, BPA [deg];
/// else CLEANBMJ, CLEANBMN, CLEANBPA [deg]; else the last HISTORY of AIPS (CLEAN [deg], CONVL
/// [arcsec]: "BMAJ= .. BMIN= .. BPA= .."), Miriad's RESTOR ("Beam = .. x .. arcsec, pa = ..") or
/// CASA's clean ("restoration: .. by .. (arcsec) at pa .."). What is no beam (not > 0, not a
/// number) is passed over with a note; without BMIN it is circular; without BPA the position angle
/// is 0, with a note unless the beam is circular; BMIN > BMAJ are taken for the axes they are, with
/// a note.
[[nodiscard]] BeamReading read_beam(const std::vector<std::string>& header_cards);

/// A beam as a user types it: "BMAJ,BMIN" or "BMAJ,BMIN,BPA" [arcsec, arcsec, deg].
/// \throws kastor::Error saying what was found and what was expected
[[nodiscard]] BeamReading parse_beam(std::string_view text);

/// Its solid angle: pi / (4 ln 2) x major x minor [arcsec^2].
[[nodiscard]] double beam_solid_angle(const Beam& beam);

}  // namespace kastor::io

#endif
