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

/// The column of each quantity; empty if there is none.
struct SourceColumns {
  std::array<std::optional<std::size_t>, k_source_quantities> column;
  int pixel_origin = 0;
  std::string size_unit;  ///< unit of `size`, if the file gives none

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

/// Finds the columns by their names. Positions are pairs of names: a pair is used only if both
/// exist.
/// \throws kastor::Error, without the name of the file, if a column named by the user is missing
[[nodiscard]] SourceColumns recognise_columns(const std::vector<TableColumn>& columns,
                                              const ColumnNames& named);

/// "ra, dec, flux": the first twelve names, for messages.
[[nodiscard]] std::string names_of(const std::vector<TableColumn>& columns);

/// A unit as a factor times a base unit.
struct ScaledUnit {
  double factor = 1;
  std::string base;  ///< "Jy", "deg", "arcsec", "pixel", another one as written, or empty
};

/// "mJy/beam" is 0.001 Jy: the column decides whether it is per beam.
[[nodiscard]] ScaledUnit scaled_flux_unit(std::string_view unit);
/// Degrees per unit; none if it is not a unit of angle. An empty unit means degrees.
[[nodiscard]] std::optional<double> degrees_per(std::string_view unit);

}  // namespace kastor::io::detail

#endif
