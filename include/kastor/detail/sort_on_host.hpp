// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SORT_ON_HOST_HPP
#define KASTOR_DETAIL_SORT_ON_HOST_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gathered_bins.hpp>

/// Sorts the gathered pixels of a host into their bins: counts, moves, adds up.
namespace kastor::detail {

/// The list in equal chunks, a thread each; every chunk has a row of counts, then of next places.
template <class T>
struct SortOnHost {
  using Bins = GatheredBins<T>;
  Bins bin_of;
  const T* values;
  std::int64_t n;
  std::int64_t chunks;
  std::uint64_t* counts;  ///< (chunks, bins)
  T* sorted;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t begin_of(std::int64_t chunk) const {
    return n / chunks * chunk + (chunk < n % chunks ? chunk : n % chunks);
  }
};

template <class T>
struct CountOnHost {
  SortOnHost<T> sort;
  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    std::uint64_t* mine = sort.counts + chunk * GatheredBins<T>::count;
    for (int b = 0; b < GatheredBins<T>::count; ++b) mine[b] = 0;
    const std::int64_t end = sort.begin_of(chunk + 1);
    for (std::int64_t i = sort.begin_of(chunk); i < end; ++i) ++mine[sort.bin_of(sort.values[i])];
  }
};

template <class T>
struct ScatterOnHost {
  SortOnHost<T> sort;
  KOKKOS_FUNCTION void operator()(std::int64_t chunk) const {
    std::uint64_t* next = sort.counts + chunk * GatheredBins<T>::count;
    const std::int64_t end = sort.begin_of(chunk + 1);
    for (std::int64_t i = sort.begin_of(chunk); i < end; ++i) {
      const T x = sort.values[i];
      sort.sorted[next[sort.bin_of(x)]++] = x;
    }
  }
};

/// A thread adds up a group of bins of a tail.
template <class T>
struct SummariseOnHost {
  static constexpr int groups = 2 * TailOctaves::groups;
  GatheredBins<T> bin_of;
  const std::uint64_t* begin;
  const T* sorted;
  TailSummaries<T> summaries;

  KOKKOS_FUNCTION void operator()(std::int64_t group) const {
    constexpr int in_group = TailOctaves::in_group;
    const auto of = static_cast<int>(group);
    const int first = of * in_group;
    TailSums all;
    for (int i = first; i < first + in_group; ++i) {
      const int b = GatheredBins<T>::window + i;
      const auto at = static_cast<std::int64_t>(begin[b]);
      const std::int64_t n = static_cast<std::int64_t>(begin[b + 1]) - at;
      summaries.bins[i] = BinSummary<T>{};
      if (n == 0) continue;
      const int octave = TailOctaves::octave_of(i % TailOctaves::bins);
      const TailTerm<T> term(bin_of.centre, bin_of.exponent_of(octave));
      T min = Kokkos::Experimental::infinity_v<T>;
      T max = -min;
      TailSums sums;
      add_tail(Alone{}, sorted + at, n, term, sums, [&](T x) {
        min = x < min ? x : min;
        max = x > max ? x : max;
        return true;
      });
      summaries.bins[i] = {begin[b], BinSummary<T>::low_word(key_of(min)),
                           BinSummary<T>::high_word(key_of(max)), WideTailSums::of(sums)};
      all += sums;
      if (!summaries.is_fine(of)) summaries.octave_of(of, i - first) = WideTailSums::of(sums);
    }
    summaries.groups[of] = WideTailSums::of(all);
    if (summaries.is_fine(of)) summaries.octave_of(of, 0).atomic_add(summaries.groups[of]);
  }
};

}  // namespace kastor::detail

#endif
