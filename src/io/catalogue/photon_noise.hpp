// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_PHOTON_NOISE_HPP
#define KASTOR_SRC_IO_CATALOGUE_PHOTON_NOISE_HPP

#include <kastor/island.hpp>

#include "io/catalogue/island_errors.hpp"

namespace kastor::io::detail {

/// Adds the photon noise of the source itself to the errors of an island. With G electrons per
/// image unit, light I adds the variance I / G to its pixel, independent of its neighbours.
///
/// The light of the island is its threshold F in each of the N pixels, and what is above it. The
/// former is as noise of variance F / G everywhere, also along the border: `island_errors()` knows
/// what that does. The latter, of sum E = S - N F and height p = P - F at the peak P, lies within
/// the island: it adds E / G to the variance of the sum S, and to that of the total T = S / (1 -
/// q), q = F / P, which falls as the peak rises, (E - 2 A q p + A^2 q^2 p) / (G (1 - q)^2) with A =
/// S / (P - F). To the second moments of the centre's error it adds those of E, over G S^2.
///
/// \param flood  lowest deviation of the island's pixels [image unit]; not known if not > 0
/// \param gain   [electron / image unit]; nothing is added if not > 0
void add_photon_noise(IslandErrors& errors, const Island& island, double flood, double beam_pixels,
                      double gain);

}  // namespace kastor::io::detail

#endif
