// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FORCED_TABLE_HPP
#define KASTOR_IO_FORCED_TABLE_HPP

#include <cstdint>
#include <kastor/aperture.hpp>
#include <kastor/component.hpp>
#include <kastor/io/forced_list.hpp>
#include <kastor/io/table.hpp>
#include <kastor/io/table_params.hpp>
#include <span>
#include <string>
#include <vector>

namespace kastor::io {

/// What was measured in apertures of one radius.
struct ApertureColumn {
  std::string radius;                ///< as typed [pixel]
  double noise_factor = 1;           ///< of `aperture_noise_factor()`
  std::vector<ApertureFlux> fluxes;  ///< one for each row
};

/// A table of what was measured at given positions, and notes about it.
struct ForcedTable {
  Table table;                     ///< the table; its cards hold the beam
  std::vector<std::string> notes;  ///< what a user should know: one sentence each
};

/// The columns of forced photometry, one row for each of the list, in its order. docs/command.md
/// lists them; flags are those of `ComponentFlag` and `ComponentTableFlag`. A flux per beam is
/// converted to Jy with the beam's area in pixels, as in `island_table()`; if the unit of the image
/// is no flux density, integrated fluxes are sums of pixels in that unit. \param components  as
/// from `ForcedPhotometer`; empty: no columns of fits \throws kastor::Error if the numbers of rows
/// differ
[[nodiscard]] ForcedTable forced_table(const ForcedList& list, const Components& components,
                                       const std::vector<ApertureColumn>& apertures,
                                       const TableParams& image);

}  // namespace kastor::io

#endif
