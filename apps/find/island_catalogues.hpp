// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ISLAND_CATALOGUES_HPP
#define KASTOR_APPS_FIND_ISLAND_CATALOGUES_HPP

#include <kastor/background.hpp>
#include <kastor/io/island_table.hpp>
#include <optional>
#include <vector>

#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

/// \param mesh  the mesh of the background; none if the user gave both maps
[[nodiscard]] io::IslandTable island_table_of(const io::FitsImage& image,
                                              const FindOptions& options, const OnTheSky& sky,
                                              const Islands& islands,
                                              const std::optional<BackgroundSummary>& mesh,
                                              const NoiseUsed& noise);

void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::IslandTable& table,
                      const Islands& islands, const io::Provenance& provenance);

}  // namespace kastor::cli

#endif
