// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_SIZE_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_SIZE_COLUMNS_HPP

#include <optional>
#include <string>

#include "io/catalogue/column_finder.hpp"

namespace kastor::io::detail {

/// A column of sizes.
struct SizeColumn {
  std::size_t column = 0;
  std::string unit;  ///< of the file, else of the program that wrote it; empty if neither is known
  double to_fwhm = 1;  ///< FWHM over the value
};

/// The column of sizes, by the names that programs give it; the first whose unit is known, else the
/// first. A name alone does not tell the unit, if programs use it for different things: then the
/// unit is that of a program only if other columns show that it wrote the table.
/// \param only_pixels  whether the positions of the table are in pixels, and not on the sky
[[nodiscard]] std::optional<SizeColumn> find_size_column(const ColumnFinder& finder,
                                                         bool only_pixels);

/// The columns of Gaussian shapes: two axes and an angle.
struct ShapeColumns {
  std::size_t major = 0, minor = 0, angle = 0;
  std::string unit;       ///< of the axes: of the file, else of the program that wrote it
  double to_fwhm = 1;     ///< FWHM over the value
  bool is_on_sky = true;  ///< the angle is from north through east, else from x towards y
};

/// The columns of shapes that were fitted, by the names that programs give them. The moments of
/// islands are none: those of faint ones depend on their noise and threshold.
/// \param only_pixels  whether the positions of the table are in pixels, and not on the sky
[[nodiscard]] std::optional<ShapeColumns> find_shape_columns(const ColumnFinder& finder,
                                                             bool only_pixels);

}  // namespace kastor::io::detail

#endif
