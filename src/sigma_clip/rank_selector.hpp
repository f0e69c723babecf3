// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_RANK_SELECTOR_HPP
#define KASTOR_SIGMA_CLIP_RANK_SELECTOR_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <kastor/image.hpp>
#include <utility>

#include "core/atomics.hpp"
#include "core/group.hpp"
#include "core/image_passes.hpp"
#include "core/interval.hpp"
#include "core/ordered_key.hpp"
#include "core/pack.hpp"
#include "core/ranks.hpp"
#include "core/word_rows.hpp"

/// Selection by rank from histograms of the image's pixels: the bin that contains the rank becomes
/// the range of the next histogram, until the range is a single number.
namespace kastor::detail {

inline constexpr int select_bins = 4096;

/// A range of consecutive numbers, by ordered key, divided into at most `select_bins` bins of
/// 2^shift.
template <class T>
struct KeyRange {
  using Key = core::Key<T>;
  Key first = 0, last = 0;
  int shift = 0;

  KeyRange(Key f, Key l)
      : first(f),
        last(l),
        shift(std::max(0,
                       static_cast<int>(std::bit_width(static_cast<std::uint64_t>(l - f))) - 12)) {}

  [[nodiscard]] static KeyRange of(const core::Interval<T>& interval) {
    // -0 and +0 are one number: a bound at zero excludes both keys.
    const T low = interval.low == 0 ? T{0} : interval.low;
    const T high = interval.high == 0 ? -T{0} : interval.high;
    return KeyRange(core::key_of(low) + 1, core::key_of(high) - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool contains(Key key) const {
    return static_cast<Key>(key - first) <= static_cast<Key>(last - first);
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of(Key key) const {
    return static_cast<int>(static_cast<Key>(key - first) >> shift);
  }
  [[nodiscard]] KeyRange bin(int b) const {
    const Key f = first + (static_cast<Key>(b) << shift);
    const Key width = (Key{1} << shift) - 1;
    return KeyRange(f, last - f < width ? last : f + width);
  }
};

/// Each group has its own histogram. With one in global memory, all pixels would queue up at the
/// few counters around the median.
template <class Exec, class T>
struct CountKeys {
  static constexpr int threads = 256;
  static constexpr int scratch_bytes = select_bins * sizeof(std::uint32_t);
  static constexpr std::int64_t words_of_tile = 256;

  core::WordRows<T> rows;
  KeyRange<T> range;
  std::uint64_t* counts;  ///< (select_bins)

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const mine = group.template scratch<std::uint32_t>(select_bins);
    const std::int64_t words = rows.words();
    // Flushed after some tiles, so that no count overflows.
    constexpr std::int64_t at_once = std::int64_t{1} << 12;
    for (std::int64_t first = group.index(); first * words_of_tile < words;
         first += at_once * group.count()) {
      group.for_each(select_bins, [&](int b) { mine[b] = 0; });
      group.barrier();
      for (std::int64_t k = 0; k < at_once && (first + k * group.count()) * words_of_tile < words;
           ++k)
        count_tile(group, (first + k * group.count()) * words_of_tile, mine);
      group.barrier();
      group.for_each(select_bins, [&](int b) {
        if (mine[b] != 0) core::atomic_add(&counts[b], std::uint64_t{mine[b]});
      });
      group.barrier();
    }
  }

 private:
  KOKKOS_FUNCTION void count_tile(const core::Group<Exec>& group, std::int64_t first_word,
                                  std::uint32_t* mine) const {
    const std::int64_t left = rows.words() - first_word;
    group.for_each(left < words_of_tile ? left : words_of_tile, [&](std::int64_t w) {
      const auto word = rows.word(first_word + w);
      for (std::int64_t j = 0; j < word.n; ++j) {
        const auto key = core::key_of(word.pixels[j]);
        if (range.contains(key)) group.fetch_add(&mine[range.bin_of(key)], 1U);
      }
    });
  }
};

/// Selects pixels by rank within an interval. Owns its histogram.
template <class Exec, class T>
class RankSelector {
 public:
  explicit RankSelector(const Exec& space)
      : m_space(space),
        m_counts(Kokkos::view_alloc(space, "kastor::select::counts"), select_bins),
        m_host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::select::host_counts"),
               select_bins) {}

  /// The pixels of rank `rank` and, if `pair`, `rank + 1` (from 0) among those in the interval,
  /// which must contain that many. Fences.
  [[nodiscard]] std::pair<T, T> operator()(core::ImagePasses<Exec, T>& image,
                                           const core::Interval<T>& interval, std::int64_t rank,
                                           bool pair) {
    return select(image, KeyRange<T>::of(interval), rank, pair);
  }

 private:
  std::pair<T, T> select(core::ImagePasses<Exec, T>& image, KeyRange<T> range, std::int64_t rank,
                         bool pair) {
    while (range.first != range.last) {
      count(image, range);
      const int bin = find(rank);
      const KeyRange<T> inside = range.bin(bin);
      if (pair && rank + 1 >= static_cast<std::int64_t>(m_host(bin))) {
        // The two ranks are in different bins: the last pixel of this bin, and the first of the
        // next bin that is not empty.
        int next = bin + 1;
        while (m_host(next) == 0) ++next;
        const KeyRange<T> above = range.bin(next);
        const T low = select(image, inside, rank, false).first;
        return {low, select(image, above, 0, false).first};
      }
      range = inside;
    }
    return {core::value_of<T>(range.first), core::value_of<T>(range.first)};
  }

  void count(core::ImagePasses<Exec, T>& image, const KeyRange<T>& range) {
    using Count = CountKeys<Exec, T>;
    Kokkos::deep_copy(m_space, m_counts, std::uint64_t{0});
    image.for_each_band([&](const ConstImage<T, Exec>& band, std::int64_t) {
      const core::WordRows<T> rows(rows_of<T, Exec>(band));
      core::for_each_group<Count::threads>(
          "kastor::select::count_keys", m_space,
          {core::groups_for(m_space, rows.words(), Count::words_of_tile, 6), Count::scratch_bytes},
          Count{rows, range, m_counts.data()});
    });
    Kokkos::deep_copy(m_space, m_host, m_counts);
    m_space.fence("kastor::select::count_keys");
    core::sum_over(image.ranks(), {m_host.data(), select_bins});
  }

  /// Returns the bin that contains the rank, and makes the rank relative to that bin.
  [[nodiscard]] int find(std::int64_t& rank) const {
    int bin = 0;
    while (rank >= static_cast<std::int64_t>(m_host(bin)))
      rank -= static_cast<std::int64_t>(m_host(bin++));
    return bin;
  }

  Exec m_space;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> m_counts;
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> m_host;
};

}  // namespace kastor::detail

#endif
