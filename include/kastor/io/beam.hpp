// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_BEAM_HPP
#define KASTOR_IO_BEAM_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io {

/// A beam (point spread function): an elliptical Gaussian.
struct Beam {
  double major_deg;           ///< full width at half maximum [deg]
  double minor_deg;           ///< full width at half maximum [deg]
  double position_angle_deg;  ///< north through east [deg]; NaN if the header has no BPA
};

/// Where a beam comes from.
enum class BeamOrigin { none, header, history, user, table };

/// A usable beam, if there is one: major >= minor > 0, position angle from 0 to below 180 deg.
struct BeamReading {
  std::optional<Beam> beam;              ///< none if none was found, or it cannot be used
  BeamOrigin origin = BeamOrigin::none;  ///< where it was found
  std::vector<std::string> notes;        ///< what was unusual about it: one sentence each
};

/// The beam of an image, from its header cards (`FitsImage::header_cards`): BMAJ, BMIN, BPA [deg];
/// else CLEANBMJ, CLEANBMN, CLEANBPA [deg]; else the last beam in the HISTORY of AIPS (CLEAN [deg],
/// CONVL [arcsec]: "BMAJ= .. BMIN= .. BPA= .."), of Miriad's RESTOR ("Beam = .. x .. arcsec,
/// pa = ..") or of CASA's clean ("restoration: .. by .. (arcsec) at pa ..").
///
/// Sizes that are not numbers > 0 are skipped, with a note. Without BMIN the beam is taken as
/// circular, with a note. Without BPA the position angle is 0, with a note unless the beam is
/// circular. If BMIN > BMAJ the axes are exchanged and the position angle is turned by 90 deg, with
/// a note.
///
/// Where each plane has its own beam (CASAMBM = T), none of these is used, and a note says so: the
/// beams are in a table of the file, which `read_beam(const FitsImage&)` (fits_image.hpp) knows.
[[nodiscard]] BeamReading read_beam(const std::vector<std::string>& header_cards);

/// Parses a beam as a user types it: "BMAJ,BMIN" or "BMAJ,BMIN,BPA" [arcsec, arcsec, deg].
/// \throws kastor::Error saying what was found and what was expected
[[nodiscard]] BeamReading parse_beam(std::string_view text);

/// The solid angle of a beam: pi / (4 ln 2) x major x minor [arcsec^2].
[[nodiscard]] double beam_solid_angle(const Beam& beam);

}  // namespace kastor::io

#endif
