// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_SOURCE_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_SOURCE_COLUMNS_HPP

#include <array>
#include <kastor/io/source_list.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/catalogue/column_finder.hpp"

namespace kastor::io::detail {

/// The column of each quantity; empty if there is none.
struct SourceColumns {
  std::array<std::optional<std::size_t>, k_source_quantities> column;
  bool text_positions = false;    ///< whether ra and dec are text
  std::optional<SkyFrame> frame;  ///< of ra and dec, as their names say
  int pixel_origin = 0;
  std::string size_unit;    ///< unit of `size`; empty if it is not known
  double size_to_fwhm = 1;  ///< FWHM over `size`
  std::vector<std::string> notes;

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
/// \throws kastor::Error, without the name of the file, if a column named by the user is missing,
/// if positions are ambiguous, or if those in pixels have another unit and there are no others
[[nodiscard]] SourceColumns recognise_columns(const std::vector<TableColumn>& columns,
                                              const ColumnNames& named);

}  // namespace kastor::io::detail

#endif
