// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RUN_HOST_HPP
#define KASTOR_DETAIL_RUN_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// What a host asks of the pixels of a long run. Knows nothing of Kokkos, so that it is always
/// compiled as plain C++, for several instruction sets; the same answers from all of them.
namespace kastor::detail {

/// Shorter runs are not worth a call.
inline constexpr std::int64_t long_run = 16;

template <class T>
struct RunExtremes {
  T lowest, highest;
};

/// Of n >= 1 finite pixels; of zeros of both signs any may be the result.
template <class T>
[[nodiscard]] RunExtremes<T> extremes_on_host(HostLevel level, const T* pixels, std::int64_t n);

/// The place of the first of n pixels that equals a value; -1: there is none.
template <class T>
[[nodiscard]] std::int64_t find_on_host(HostLevel level, T value, const T* pixels, std::int64_t n);

/// The terms v = pixel * scale * scale_more of four runs of n pixels, and their sums.
template <class T>
struct FourRuns {
  const T* pixels[4];
  std::int64_t n[4];
  double scale[4], scale_more[4];
  double x[4];         ///< of the first pixel
  double flux[4];      ///< of v
  double x_moment[4];  ///< of v x
};

/// Adds up each from left to right, side by side: one alone waits for its own additions.
template <class T>
void sum_runs_on_host(HostLevel level, FourRuns<T>& runs);

/// How many of n pixels equal each of some values, none of which is NaN or another's equal.
/// Pixels that equal none stay in the list, in order; the result is their number.
template <class T>
[[nodiscard]] std::int64_t take_out_on_host(HostLevel level, const T* values, int of_values,
                                            T* pixels, std::int64_t n, std::int64_t* counts);

}  // namespace kastor::detail

#endif
