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

/// DS9's region files, and the CASA Region Text Format (version 0), which CARTA reads too.
enum class RegionFormat { ds9, crtf };

/// The format that the ending of a file name chooses (.reg, .crtf; case-insensitive); none if it
/// names no format.
[[nodiscard]] std::optional<RegionFormat> region_format_of(std::string_view path);

/// One source to be shown on an image: on the sky, or in the image's pixels.
struct Region {
  double x = 0;  ///< longitude [degree], or pixel from 0
  double y = 0;  ///< latitude [degree], or pixel from 0
  /// Semi axes of an ellipse [arcsec], or [pixel]. A point is shown where one is not > 0.
  double semi_major = 0;
  double semi_minor = 0;  ///< the smaller one
  /// Of the major axis [degree]. On the sky: position angle, from north through east. In pixels:
  /// from the x axis towards the y axis.
  double angle = 0;
  std::string text;  ///< label, UTF-8; may be empty
};

/// Writes the file, replacing what is there (give it the temporary name of an `OutputSet`); one
/// line a region, in their order. Without a frame the regions are in pixels (1-based in DS9 files,
/// 0-based in CRTF, as their readers expect).
///
/// DS9 counts the angles of sky ellipses from the west, CRTF those of all ellipses from the north
/// or the y axis. Positions are written to 1e-9 degree or 1e-6 pixel, axes to 1e-6 arcsec or pixel,
/// angles, into [0, 360), to 1e-6 degree. Regions whose position is not finite are left out, and a
/// comment counts them. In labels, what the readers would take for syntax becomes '_' (CRTF), a
/// brace becomes a parenthesis (DS9). Provenance is in comments. The file depends on the arguments
/// only. \throws kastor::Error if the file cannot be written
void write_regions(const std::string& path, RegionFormat format, const std::vector<Region>& regions,
                   std::optional<SkyFrame> frame, const Provenance& provenance);

}  // namespace kastor::io

#endif
