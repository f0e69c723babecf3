// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_RELATIVE_WEIGHTS_HPP
#define KASTOR_APPS_FIND_RELATIVE_WEIGHTS_HPP

#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <kastor/threshold.hpp>
#include <optional>
#include <string>

#include "cli/run/backends.hpp"

namespace kastor::cli {

/// Weights w, divided by their median; NaN where a pixel has none.
template <class T>
struct RelativeWeights {
  io::HostPixels<T> root;   ///< sqrt(w)
  io::HostPixels<T> noise;  ///< 1 / sqrt(w), the relative noise
};

/// A weight that is 0 or not finite makes its pixel unusable. In double, by operations that IEEE
/// 754 rounds correctly, and on the host: the bits are the same on every backend.
/// \param option   that gave the weights, for messages
/// \param usable   its bits are cleared where there is no weight; the median is over the others
/// \param without  the number of usable pixels that had no weight
/// \throws Error if a weight is negative
template <class T>
[[nodiscard]] RelativeWeights<T> relative_weights(
    const io::FitsImage& read, const char* option,
    const BitMask<Kokkos::DefaultHostExecutionSpace>& usable, std::int64_t& without);
extern template RelativeWeights<float> relative_weights(
    const io::FitsImage&, const char*, const BitMask<Kokkos::DefaultHostExecutionSpace>&,
    std::int64_t&);
extern template RelativeWeights<double> relative_weights(
    const io::FitsImage&, const char*, const BitMask<Kokkos::DefaultHostExecutionSpace>&,
    std::int64_t&);

}  // namespace kastor::cli

#endif
