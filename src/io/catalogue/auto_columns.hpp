// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_AUTO_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_AUTO_COLUMNS_HPP

#include <kastor/io/island_table.hpp>
#include <string>
#include <vector>

#include "io/catalogue/island_rows.hpp"

namespace kastor::io::detail {

/// The columns of the fluxes in Kron's apertures, and of their magnitudes if there is a zero point;
/// none if `params` has no such fluxes. \param band  ";em.radio" or nothing, for the UCDs
[[nodiscard]] std::vector<TableColumn> auto_columns(const std::vector<IslandRow>& rows,
                                                    const IslandTableParams& params,
                                                    const FluxUnit& unit, const std::string& band);

/// What the apertures say of the islands, in the bits of the column `flags`.
void set_auto_flags(std::vector<IslandRow>& rows, const IslandTableParams& params);

/// The same for an image whose unit is no flux density per something: fluxes are sums of pixels, in
/// that unit.
[[nodiscard]] FluxUnit unit_of_sums(const FluxUnit& unit);

}  // namespace kastor::io::detail

#endif
