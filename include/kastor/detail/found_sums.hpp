// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FOUND_SUMS_HPP
#define KASTOR_DETAIL_FOUND_SUMS_HPP

#include <cstdint>
#include <kastor/detail/run_host.hpp>
#include <type_traits>

/// Hosts: what the first sweep has summed of long runs, for the second.
namespace kastor::detail {

/// Of a run, in the image's units.
template <class T>
struct FoundSums {
  /// Doubles hold sums of floats without rounding, as a rule, but not those of doubles.
  static constexpr bool are_of_use = std::is_same_v<T, float>;

  double flux;      ///< of its pixels
  double x_moment;  ///< of each times its distance from the first
  T lowest;

  /// Whether runs are long, in the mean, so that it pays to sum them at once.
  [[nodiscard]] static bool pay(std::uint64_t runs, std::uint64_t pixels) {
    return are_of_use && pixels >= static_cast<std::uint64_t>(SummedRuns<T>::fewest) * runs;
  }
  /// Whether sums of these pixels, and of each times a distance below `reach`, are rounded nowhere,
  /// in whatever order. Floats above 0 are multiples of 2^-24 of the smallest, rounded up to a
  /// power of two; and no sum, known within a part in 2, is 2^53 times as large.
  [[nodiscard]] bool are_exact(double reach) const {
    constexpr double most = 268435456.0;  // 2^(53 - 24 - 1)
    return flux * reach < static_cast<double>(lowest) * most && lowest > 0;
  }
};

}  // namespace kastor::detail

#endif
