// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_ISLAND_CATALOGUES_HPP
#define KASTOR_APPS_CLI_ISLAND_CATALOGUES_HPP

#include <kastor/io/island_table.hpp>
#include <vector>

#include "cli/find_outputs.hpp"
#include "cli/on_the_sky.hpp"

namespace kastor::cli {

[[nodiscard]] io::IslandTable island_table_of(const io::FitsImage& image,
                                              const FindOptions& options, const OnTheSky& sky,
                                              const Islands& islands);

void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::IslandTable& table,
                      const Islands& islands, const io::Provenance& provenance);

}  // namespace kastor::cli

#endif
