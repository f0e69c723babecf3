// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_SOURCE_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_SOURCE_COLUMNS_HPP

#include <array>
#include <kastor/io/source_list.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The column of each quantity; none: there is none.
struct SourceColumns {
  std::array<std::optional<std::size_t>, k_source_quantities> column;
  int pixel_origin = 0;
  std::string size_unit;  ///< of `size`, where the file does not tell it

  [[nodiscard]] std::optional<std::size_t>& of(SourceQuantity quantity) {
    return column[static_cast<std::size_t>(quantity)];
  }
  [[nodiscard]] const std::optional<std::size_t>& of(SourceQuantity quantity) const {
    return column[static_cast<std::size_t>(quantity)];
  }
  [[nodiscard]] bool has_positions() const {
    return of(SourceQuantity::ra) || of(SourceQuantity::x);
  }
};

/// Finds the columns by their names. Positions are pairs: of two names, either both are there or
/// the next pair is tried. \throws kastor::Error, without the file's name, if a column named by the
/// user is not there
[[nodiscard]] SourceColumns recognise_columns(const std::vector<TableColumn>& columns,
                                              const ColumnNames& named);

/// "ra, dec, flux": the names of the first dozen, for messages.
[[nodiscard]] std::string names_of(const std::vector<TableColumn>& columns);

/// A unit as a factor to a base unit.
struct ScaledUnit {
  double factor = 1;
  std::string base;  ///< "Jy", "deg", "arcsec", "pixel", another as it is written, or empty
};

/// "mJy/beam" is 0.001 Jy: what is per beam is told by the column.
[[nodiscard]] ScaledUnit scaled_flux_unit(std::string_view unit);
/// In degrees; none if it is no unit of angles. Empty is degrees.
[[nodiscard]] std::optional<double> degrees_per(std::string_view unit);

}  // namespace kastor::io::detail

#endif
