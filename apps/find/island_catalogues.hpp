// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ISLAND_CATALOGUES_HPP
#define KASTOR_APPS_FIND_ISLAND_CATALOGUES_HPP

#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/io/island_table.hpp>
#include <optional>
#include <span>
#include <vector>

#include "find/detection_summary.hpp"
#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

/// Of the islands, one each; empty: not known.
struct Photometry {
  std::span<const KronFlux> kron;
  std::span<const double> weights;        ///< relative ones
  std::span<const std::int64_t> parents;  ///< of the parts of islands, the id of the island
};

/// \param mesh  the mesh of the background; none if the user gave both maps
[[nodiscard]] io::IslandTable island_table_of(const io::FitsImage& image,
                                              const FindOptions& options, const OnTheSky& sky,
                                              const Islands& islands, const Photometry& photometry,
                                              const std::optional<BackgroundSummary>& mesh,
                                              const DetectionSummary& detection,
                                              const NoiseUsed& noise);

/// What tables of islands and of components have in common.
[[nodiscard]] io::TableParams table_params_of(const io::FitsImage& image,
                                              const FindOptions& options, const OnTheSky& sky,
                                              const DetectionSummary& detection);
/// The cards on the noise that errors are computed with.
void add_noise_cards(const NoiseUsed& noise, io::Table& table);

}  // namespace kastor::cli

#endif
