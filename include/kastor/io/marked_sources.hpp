// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_MARKED_SOURCES_HPP
#define KASTOR_IO_MARKED_SOURCES_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/picture_ellipse.hpp>
#include <kastor/io/wcs.hpp>
#include <string>
#include <vector>

namespace kastor::io {

/// Sources to be drawn over an image: one of the lists is empty.
struct MarkedSources {
  Catalogue sources;                     ///< only id, centre and bounding box are set
  std::vector<PictureEllipse> ellipses;  ///< of components: where they have half of their peak
  std::vector<std::string> notes;        ///< what to know about the file: one sentence each
};

/// Reads the sources of a table for a picture of an image: a FITS table, VOTable, ECSV or CSV (see
/// `read_table()`).
///
/// A table of Kastor's has the columns x_cen, y_cen, x_min, x_max, y_min and y_max [pixel, from 0],
/// which are used as they are. One of Kastor's components has the columns component_id, x_cen,
/// y_cen, maj_axis_pix, min_axis_pix and pos_ang_pix: ellipses. Any other table has positions on
/// the sky or in pixels, as `read_source_list()` recognises them. If it has both, those on the sky
/// are used if the image has celestial coordinates. A source is marked with a radius of its size
/// (FWHM of the major axis), if the table gives it, rounded to whole pixels; rows without a
/// position in the plane of the image are left out, which a note tells. \param wcs coordinates of
/// the image; null if it has none \param with_ids  whether ids are needed: whole numbers in the
/// column id or island_id of
///                  Kastor's tables, else in that of `read_source_list()`
/// \throws kastor::Error `FILE: what was found; what was expected`
[[nodiscard]] MarkedSources read_marked_sources(const std::string& path, const Wcs* wcs,
                                                bool with_ids);

}  // namespace kastor::io

#endif
