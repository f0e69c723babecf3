// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RUN_HOST_HPP
#define KASTOR_DETAIL_RUN_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// What a host asks of the pixels of runs. Knows nothing of Kokkos, so that it is always compiled
/// as plain C++, for several instruction sets; the same answers from all of them.
namespace kastor::detail {

/// Some runs, which are asked together: most have a few pixels, and a call or a branch for each
/// would take longer than they do.
template <class T>
struct RunBatch {
  static constexpr int most = 32;
  int used = 0;
  const T* pixels[most] = {};
  std::int64_t n[most] = {};  ///< pixels, of those in use 1 or more
};

template <class T>
struct ExtremesOfRuns : RunBatch<T> {
  T lowest[RunBatch<T>::most] = {};
  T highest[RunBatch<T>::most] = {};
};

/// Of finite pixels; of zeros of both signs any may be the result.
template <class T>
void extremes_on_host(HostLevel level, ExtremesOfRuns<T>& runs);

/// Runs that are long, and what their pixels add up to.
template <class T>
struct SummedRuns : ExtremesOfRuns<T> {
  static constexpr std::int64_t fewest = 16;  ///< pixels of a run
  /// Of the pixels, and of each times its distance from the first, in any order: no sum on the way
  /// is larger than that of the pixels times twice their number. Float only.
  double flux[RunBatch<T>::most], x_moment[RunBatch<T>::most];
};

/// As above.
template <class T>
void extremes_and_sums_on_host(HostLevel level, SummedRuns<T>& runs);

/// The place of the first of n pixels that equals a value; -1: there is none.
template <class T>
[[nodiscard]] std::int64_t find_on_host(HostLevel level, T value, const T* pixels, std::int64_t n);

/// The terms v = pixel * scale * scale_more of runs, added up from left to right, and their sums as
/// whole numbers of units: floor(sum * per_unit + 0.5), less than 2^63 in size.
template <class T>
struct SumsOfRuns : RunBatch<T> {
  using RunBatch<T>::most;
  using List = double[most];
  std::int32_t x[most] = {};  ///< of the first pixel
  std::int32_t y[most] = {};
  List scale = {}, scale_more = {};
  List flux_per_unit = {}, x_per_unit = {}, y_per_unit = {};

  std::int64_t flux[most] = {};      ///< of v
  std::int64_t x_moment[most] = {};  ///< of v x
  std::int64_t y_moment[most] = {};  ///< of the sum of v times y
};

/// Four runs side by side: one alone waits for its own additions. Best if they are of one length.
template <class T>
void sum_runs_on_host(HostLevel level, SumsOfRuns<T>& runs);

/// How many of n pixels equal each of some values, none of which is NaN or another's equal.
/// Pixels that equal none stay in the list, in order; the result is their number.
template <class T>
[[nodiscard]] std::int64_t take_out_on_host(HostLevel level, const T* values, int of_values,
                                            T* pixels, std::int64_t n, std::int64_t* counts);

}  // namespace kastor::detail

#endif
