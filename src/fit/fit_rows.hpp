// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_ROWS_HPP
#define KASTOR_FIT_FIT_ROWS_HPP

#include <kastor/fit.hpp>
#include <vector>

#include "fit/island_fit.hpp"

namespace kastor::detail {

/// The components of islands as the caller gets them, but for the maps at their pixels: `rms` and
/// `background` are NaN.
[[nodiscard]] FittedComponents rows_of_fits(const std::vector<IslandFit>& islands);

}  // namespace kastor::detail

#endif
