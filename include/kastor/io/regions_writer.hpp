// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_REGIONS_WRITER_HPP
#define KASTOR_IO_REGIONS_WRITER_HPP

#include <kastor/io/provenance.hpp>
#include <kastor/io/sky_frame.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io {

/// DS9 region files, and the CASA Region Text Format (version 0), which CARTA also reads.
enum class RegionFormat { ds9, crtf };

/// The format given by the ending of a file name (.reg, .crtf; case-insensitive); none if the
/// ending is unknown.
[[nodiscard]] std::optional<RegionFormat> region_format_of(std::string_view path);

/// One source to be shown on an image, on the sky or in pixels.
struct Region {
  double x = 0;  ///< longitude [degree], or pixel from 0
  double y = 0;  ///< latitude [degree], or pixel from 0
  /// Major semi-axis of an ellipse [arcsec], or [pixel]. If one is not > 0, the region is a point.
  double semi_major = 0;
  double semi_minor = 0;  ///< minor semi-axis
  /// Direction of the major axis [degree]. On the sky: position angle from north through east. In
  /// pixels: from the x axis towards the y axis.
  double angle = 0;
  std::string text;  ///< label, UTF-8; may be empty
};

/// Writes a region file and replaces what is there (pass the temporary name of an `OutputSet`); one
/// line per region, in the given order. Without a frame the regions are in pixels (from 1 in DS9
/// files, from 0 in CRTF, as their readers expect).
///
/// DS9 counts the angles of ellipses on the sky from the west; CRTF counts those of all ellipses
/// from the north or from the y axis. Positions are written to 1e-9 degree or 1e-6 pixel, axes to
/// 1e-6 arcsec or pixel, angles in [0, 360) to 1e-6 degree. Regions whose position is not finite
/// are left out, and a comment gives their number. Characters of labels that readers would take as
/// syntax are replaced: by '_' in CRTF, braces by parentheses in DS9. Provenance is in comments.
/// The file depends only on the arguments. \throws kastor::Error if the file cannot be written
void write_regions(const std::string& path, RegionFormat format, const std::vector<Region>& regions,
                   std::optional<SkyFrame> frame, const Provenance& provenance);

}  // namespace kastor::io

#endif
