// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_INPUT_HPP
#define KASTOR_FIT_FIT_INPUT_HPP

#include <cstdint>
#include <kastor/deblend.hpp>
#include <kastor/fit.hpp>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <optional>
#include <span>
#include <vector>

#include "fit/group_fitter.hpp"
#include "fit/island_fit.hpp"
#include "fit/residual_peaks.hpp"

/// What a `ComponentFitter` is given.
namespace kastor::detail {

/// \throws Error if a parameter is out of its range.
void expect_fit_params(const FitParams& params);
/// \throws Error unless the islands are those of the labels, of one side, and the peaks of them.
void expect_fit_islands(std::span<const Island> islands, std::int64_t labels,
                        std::span<const IslandPeak> peaks);

/// The noise's autocorrelation: the shape of the beam, or round, of the given area [pixel].
[[nodiscard]] FitNoise noise_of(const std::optional<PixelEllipse>& beam, double area);
[[nodiscard]] Side side_of_islands(std::span<const Island> islands);
/// Begins each island with its peaks.
void begin_islands(std::span<const Island> islands, std::span<const IslandPeak> peaks,
                   const FitRules& rules, std::vector<IslandFit>& fits);
/// The pixel nearest to the centre of a Gaussian, within the image.
[[nodiscard]] AskedPixel pixel_of(const Gaussian& gaussian, const Shape& image);

}  // namespace kastor::detail

#endif
