// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_SIGNAL_HPP
#define KASTOR_CONVOLVE_SIGNAL_HPP

#include "convolve/tiling.hpp"

namespace kastor::detail {

/// 1-D convolution, mode full. A thread computes several values of the result: on a CPU neighbours,
/// on a device values that are 32 apart, so that neighbouring threads read neighbouring values.
template <class Exec, class T>
struct ConvolveSignal {
  static constexpr int lanes = core::lanes_v<Exec, T>;
  static constexpr int threads_side_by_side = lanes == 1 ? 32 : 1;
  static constexpr int values = lanes == 1 ? 4 : lanes;
  static constexpr int block = threads_side_by_side * values;

  const T* signal;
  std::int64_t length;
  const T* taps;
  std::int64_t n_taps;
  T* result;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t result_length() const { return length + n_taps - 1; }
  [[nodiscard]] std::int64_t threads() const {
    return (result_length() + block - 1) / block * threads_side_by_side;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t block_begin = i / threads_side_by_side * block;
    const std::int64_t x = block_begin + i % threads_side_by_side;
    if (block_begin < n_taps - 1 || block_begin + block > length) return sum_near_an_end(x);
    T sums[values] = {};
    for (std::int64_t j = n_taps - 1; j >= 0; --j) {
      const T tap = taps[j];
      for (int v = 0; v < values; ++v) sums[v] += tap * signal[x - j + v * threads_side_by_side];
    }
    for (int v = 0; v < values; ++v) result[x + v * threads_side_by_side] = with_one_nan(sums[v]);
  }

 private:
  /// For values near an end, where some taps have no partner.
  KOKKOS_FUNCTION void sum_near_an_end(std::int64_t x) const {
    for (std::int64_t at = x; at < x + block && at < result_length(); at += threads_side_by_side) {
      T sum = 0;
      for (std::int64_t j = at < n_taps ? at : n_taps - 1; j >= 0 && at - j < length; --j)
        sum += taps[j] * signal[at - j];
      result[at] = with_one_nan(sum);
    }
  }
};

}  // namespace kastor::detail

#endif
