// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_POSITION_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_POSITION_COLUMNS_HPP

#include <kastor/io/sky_frame.hpp>
#include <optional>
#include <string>

#include "io/catalogue/column_finder.hpp"

namespace kastor::io::detail {

/// Two columns that hold positions.
struct PositionColumns {
  std::size_t first = 0;
  std::size_t second = 0;
  bool is_text = false;
  int pixel_origin = 0;           ///< of positions in pixels
  std::optional<SkyFrame> frame;  ///< as the names say
};

/// The columns of sky positions, by the usual names: those of ICRS and J2000 before galactic ones,
/// and these before those of B1950; within each, numbers before text. If there are none of these
/// names, the columns whose UCDs say that they are the main ones, or those of astropy, such as
/// place.ra and place.dec.
/// \throws kastor::Error, without the name of the file, if a name that is needed occurs twice
[[nodiscard]] std::optional<PositionColumns> find_sky_columns(const ColumnFinder& finder);

/// The columns of positions in pixels, by the usual names. Columns with another unit than pixels
/// are none, nor are those whose name occurs twice; the first of these is named in `trouble`.
[[nodiscard]] std::optional<PositionColumns> find_pixel_columns(const ColumnFinder& finder,
                                                                std::string& trouble);

/// The frame that the name of a column says it belongs to; none if it says nothing.
[[nodiscard]] std::optional<SkyFrame> frame_of_name(const TableColumn& column);
/// Whether a column of this name counts pixels from 1.
[[nodiscard]] bool counts_from_one(const std::string& name);
/// Whether both hold text, or one does and the other has no values by which to know.
[[nodiscard]] bool are_texts(const TableColumn& first, const TableColumn& second);

}  // namespace kastor::io::detail

#endif
