// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_PLACE_IN_SCENE_HPP
#define KASTOR_SIMULATE_PLACE_IN_SCENE_HPP

#include "simulate/scene.hpp"

namespace kastor::detail {

/// The standard deviation of the noise at a place, of one pixel.
[[nodiscard]] double noise_at(const Scene& scene, double x, double y);

/// S/N of a source with a peak of 1 over noise of 1: with a detector that of a matched filter, the
/// root of the sum of its profile squared.
[[nodiscard]] double snr_of_unit_peak(const Scene& scene, const TrueSource& source);

/// flux_int of a source with a peak of 1.
[[nodiscard]] double flux_of_unit_peak(const Scene& scene, const TrueSource& source);

/// Lets the primary beam attenuate a source, and sets its rms and S/N.
void place_in_scene(const Scene& scene, TrueSource& source);

}  // namespace kastor::detail

#endif
