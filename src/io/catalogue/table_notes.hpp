// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_TABLE_NOTES_HPP
#define KASTOR_SRC_IO_CATALOGUE_TABLE_NOTES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/io/header_card.hpp>
#include <kastor/io/sky_frame.hpp>
#include <kastor/io/table_params.hpp>
#include <optional>
#include <string>
#include <vector>

#include "io/sky/flux_unit.hpp"

namespace kastor::io::detail {

/// The frame of ra and dec, or of the image's own longitude and latitude.
[[nodiscard]] std::optional<SkyFrame> frame_of(const Wcs* wcs);

/// The cards of a table: the beam, and a frame that no table format can name.
[[nodiscard]] std::vector<HeaderCard> cards_of(const TableParams& params);

/// The reason why there are no flux densities, if it is the same for all rows.
[[nodiscard]] std::string reason_without_flux(const TableParams& params, const FluxUnit& unit);

/// Rows without a position on the sky.
struct RowsOffSky {
  std::size_t off, all;
  const char* what;  ///< "islands"
};

/// What a user should know of the unit, the beam and the positions of a table.
void add_common_notes(const TableParams& params, const FluxUnit& unit, const RowsOffSky& rows,
                      std::vector<std::string>& notes);

/// How many rows have a flag.
template <class Row>
[[nodiscard]] std::size_t count_with(const std::vector<Row>& rows, std::uint32_t flag) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const auto& row) { return (row.flags & flag) != 0; }));
}

}  // namespace kastor::io::detail

#endif
