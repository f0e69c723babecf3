// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FOUND_STRETCHES_HPP
#define KASTOR_DETAIL_FOUND_STRETCHES_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/stretch_host.hpp>

/// Hosts: the stretches of runs that the first sweep has found and summed, for the second.
namespace kastor::detail {

template <class T>
struct FoundStretch {
  std::int64_t first, runs;
  Run all;  ///< from the first pixel to the last
  SumsOfStretch<T> sums;

  /// Whether no sum of its pixels, and of each times an x or a y of its, is rounded, whatever is
  /// added first.
  [[nodiscard]] bool sums_are_exact() const {
    constexpr T most = Kokkos::Experimental::finite_max_v<T>;
    if (sizeof(T) != sizeof(float) || !(sums.lowest > 0 && sums.highest <= most)) return false;
    const std::int64_t past = all.end + Stretch<T>::beyond;
    const int below = exponent_above(static_cast<double>(sums.highest)) + bits_of(sums.n_pix) +
                      bits_of(std::max<std::int64_t>(past, all.row));
    return below <= last_place() + 53;
  }
  /// The pixels, floats above 0, are multiples of 2^this.
  [[nodiscard]] int last_place() const {
    return exponent_above(static_cast<double>(sums.lowest)) - 24;
  }
  /// Behind the last one.
  [[nodiscard]] static FoundStretch none() { return {-1, 0, {}, {}}; }
};

template <class T>
struct FoundStretches {
  static constexpr std::int64_t fewest = 8;  ///< runs, fewer are not worth it

  const std::uint64_t* mask;  ///< of the runs; null: it may have changed since, none is found
  std::int64_t words_per_row;
  FoundStretch<T>* list;  ///< in order of the workers' shares of the runs

  /// Those of the worker whose share begins with this run, with room for all and for the end.
  [[nodiscard]] FoundStretch<T>* of_worker(std::int64_t worker, std::int64_t first_run) const {
    return list + first_run / fewest + worker;
  }
  [[nodiscard]] static std::int64_t most(std::int64_t runs, std::int64_t workers) {
    return runs / fewest + workers;
  }

  /// How many runs from i on are a stretch; 0: none begins here.
  [[nodiscard]] std::int64_t length_from(const MeasuredRuns& runs, std::int64_t i,
                                         std::int64_t past) const {
    const std::uint32_t label = runs.label[i];
    if (mask == nullptr || label == 0) return 0;
    const std::int32_t row = runs.row[i];
    const auto goes_on = [&](std::int64_t from) {
      const std::int64_t last = from + fewest - 1;
      if (last >= past || runs.label[last] != label || runs.row[last] != row) return false;
      __builtin_prefetch(runs.begin + last);  // which the sums will begin with
      __builtin_prefetch(runs.end + last);
      std::uint32_t differ = 0;
      for (std::int64_t k = from; k < last; ++k) differ |= runs.label[k] ^ label;
      return differ == 0;
    };
    std::int64_t end = i;
    while (goes_on(end)) end += fewest;
    if (end == i) return 0;
    while (end < past && runs.row[end] == row && runs.label[end] == label) ++end;
    return end - i;
  }
};

}  // namespace kastor::detail

#endif
