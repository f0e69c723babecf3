// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SKY_MODEL_HPP
#define KASTOR_IO_SKY_MODEL_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/table.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kastor::io {

/// Text files of sources for calibration, as BBS, makesourcedb, DP3 and LSMTool read them.
enum class SkyModelFormat { makesourcedb };

/// The format given by the ending of a file name (.skymodel; case-insensitive); none if the ending
/// is unknown.
[[nodiscard]] std::optional<SkyModelFormat> sky_model_format_of(std::string_view path);

/// Writes components as a sky model and replaces what is there (pass the temporary name of an
/// `OutputSet`): one line for each, in the given order.
///
/// The first line names the fields: Name (`i3_c5`: component 5, of island 3), Type, Ra, Dec, I
/// [Jy], MajorAxis, MinorAxis [arcsec, FWHM], Orientation [deg, north through east, absolute],
/// ReferenceFrequency [Hz] if the table has one, and SpectralIndex, which is empty. Components that
/// are no larger than the beam are of the type POINT, others are of the type GAUSSIAN with their
/// deconvolved ellipses, or with the fitted ones if the image has no beam. Components without a
/// position, a flux or a shape are left out, and a comment gives their number. Provenance is in
/// comments. The file depends only on the arguments.
/// \param components  of `component_table()`
/// \throws kastor::Error if there are no positions in ICRS or FK5 J2000, no fluxes in Jy, or the
/// file
///         cannot be written
void write_sky_model(const std::string& path, const Table& components,
                     const Provenance& provenance);

}  // namespace kastor::io

#endif
