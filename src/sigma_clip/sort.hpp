// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_SORT_HPP
#define KASTOR_SIGMA_CLIP_SORT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/group.hpp"
#include "sigma_clip/gathered_bins.hpp"
#include "sigma_clip/segments.hpp"
#include "sigma_clip/tail_sums.hpp"

/// A counting sort of the gathered pixels by bin, and the sums of the bins of the tails. The order
/// of the pixels within a bin may differ from run to run; nothing depends on it.
namespace kastor::detail {

/// The gathered pixels in bins, and the sums of the tails: first those of the lower tail, then
/// those of the upper one.
template <class T>
struct SortedBins {
  T* pixels;
  /// (GatheredBins::count) number of pixels of a bin; then where its next pixel goes.
  std::uint32_t* count;
  std::uint32_t* begin;  ///< (GatheredBins::count + 1) where the pixels of a bin begin
  TailSums* tail;        ///< (GatheredBins::tails) sums of each bin
  TailSums* block;       ///< (2 TailOctaves::blocks) sums of each block of neighbouring bins
  TailSums* octave;      ///< (2 TailOctaves::count) sums of each octave

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t size_of(int bin) const {
    return begin[bin + 1] - begin[bin];
  }
  /// `visit(x)` for the pixels of a bin, shared among the threads of a group.
  template <class Exec, class Visit>
  KOKKOS_FUNCTION void for_each_in(const core::Group<Exec>& group, int bin,
                                   const Visit& visit) const {
    const std::uint32_t first = begin[bin];
    group.for_each_of(pixels + first, begin[bin + 1] - first, visit);
  }
};

/// A group's share of the gathered pixels: some of the segments, and a histogram of their bins in
/// scratch memory. So each group, not each pixel, updates the global counter of a bin.
template <class Exec, class T>
class SharedBins {
 public:
  static constexpr int bins = GatheredBins<T>::count;
  static constexpr int scratch_bytes = bins * sizeof(std::uint32_t);

  KOKKOS_FUNCTION SharedBins(const core::Group<Exec>& group, const Brackets<T>& brackets,
                             const Segments<T>& segments)
      : m_group(group),
        m_segments(segments),
        m_bins(brackets),
        m_histogram(group.template scratch<std::uint32_t>(bins)) {
    group.for_each(bins, [&](int bin) { m_histogram[bin] = 0; });
    group.barrier();
    for_each([&](T, int bin) { add(bin); });
    group.barrier();
  }
  /// `visit(x, bin)` for the pixels of the group's segments.
  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    for (std::int64_t s = m_group.index(); s < m_segments.segments; s += m_group.count()) {
      const Segment<T> segment = m_segments[s];
      m_group.for_each_of(segment.begin(segment.window), segment.size(segment.window),
                          [&](T x) { visit(x, m_bins.in_window(x)); });
      m_group.for_each_of(segment.begin(segment.tails), segment.size(segment.tails),
                          [&](T x) { visit(x, m_bins.beyond_window(x)); });
    }
  }
  /// `visit(bin, number)` for the bins that have pixels; `visit` may change the number.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_bin(const Visit& visit) const {
    m_group.for_each(bins, [&](int bin) {
      if (m_histogram[bin] != 0) visit(bin, m_histogram[bin]);
    });
  }
  /// Adds 1 to the number of a bin and returns its previous value.
  KOKKOS_FUNCTION std::uint32_t add(int bin) const {  // NOLINT(modernize-use-nodiscard)
    return m_group.fetch_add(&m_histogram[bin], 1U);
  }

 private:
  const core::Group<Exec>& m_group;
  Segments<T> m_segments;
  GatheredBins<T> m_bins;
  std::uint32_t* m_histogram;
};

/// Counts the pixels of each bin.
template <class Exec, class T>
struct CountBins {
  static constexpr int threads = 512;
  const Brackets<T>* brackets;
  Segments<T> segments;
  std::uint32_t* count;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const SharedBins<Exec, T> mine(group, *brackets, segments);
    mine.for_each_bin([&](int bin, std::uint32_t n) { core::atomic_add(&count[bin], n); });
  }
};

/// One group computes where the bins begin: an exclusive scan of the counts. It works in scratch
/// memory, because accesses to global memory must be coalesced while each thread adds up
/// neighbouring bins.
template <class Exec, class T>
struct PlaceBins {
  static constexpr int threads = 1024;
  static constexpr int bins = GatheredBins<T>::count;
  static constexpr int scratch_bytes = (bins + 1) * sizeof(std::uint32_t);
  SortedBins<T> sorted;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const begin = group.template scratch<std::uint32_t>(bins + 1);
    group.copy_list(sorted.count, begin, bins);
    group.barrier();
    const int share = (bins + group.size()) / group.size();
    const int first = group.rank() * share;
    const int past = first + share < bins ? first + share : bins;
    std::uint32_t mine = 0;
    for (int bin = first; bin < past; ++bin) mine += begin[bin];
    std::uint32_t before = group.exclusive_scan(mine);
    for (int bin = first; bin < past; ++bin) {
      const std::uint32_t here = begin[bin];
      begin[bin] = before;
      before += here;
    }
    if (first <= bins && bins < first + share) begin[bins] = before;
    group.barrier();
    group.for_each(bins + 1, [&](int bin) {
      sorted.begin[bin] = begin[bin];
      if (bin < bins) sorted.count[bin] = begin[bin];
    });
  }
};

/// Moves each pixel to its bin.
template <class Exec, class T>
struct ScatterPixels {
  static constexpr int threads = 512;
  const Brackets<T>* brackets;
  Segments<T> segments;
  SortedBins<T> sorted;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const SharedBins<Exec, T> mine(group, *brackets, segments);
    // Replaces the number of the group's pixels in a bin by the index at which the first of them
    // goes.
    mine.for_each_bin(
        [&](int bin, std::uint32_t& n) { n = Kokkos::atomic_fetch_add(&sorted.count[bin], n); });
    group.barrier();
    mine.for_each([&](T x, int bin) { sorted.pixels[mine.add(bin)] = x; });
  }
};

/// Sums the pixels of each bin of the tails; a group takes bin after bin.
template <class Exec, class T>
struct SumTailBins {
  static constexpr int threads = 64;
  const Brackets<T>* brackets;
  SortedBins<T> sorted;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const GatheredBins<T> bins(*brackets);
    const auto step = static_cast<int>(group.count());
    for (auto i = static_cast<int>(group.index()); i < GatheredBins<T>::tails; i += step) {
      const int side = i / TailOctaves::bins, bin = i % TailOctaves::bins;
      TailSums sums;
      if (sorted.size_of(GatheredBins<T>::window + i) > 0) {
        const int octave = TailOctaves::octave_of(bin);
        const TailTerm<T> term(bins.centre, bins.exponent_of(octave));
        sorted.for_each_in(group, GatheredBins<T>::window + i, [&](T x) { term.add(x, sums); });
        group.sum_words(sums.word);
        if (group.rank() == 0) {
          add_to(sorted.block[side * TailOctaves::blocks + bin / TailOctaves::bins_of_block], sums);
          add_to(sorted.octave[side * TailOctaves::count + octave], sums);
        }
      }
      if (group.rank() == 0) sorted.tail[i] = sums;
    }
  }

 private:
  KOKKOS_FUNCTION static void add_to(TailSums& total, const TailSums& sums) {
    for (int k = 0; k < TailSums::words; ++k) core::atomic_add(&total.word[k], sums.word[k]);
  }
};

/// Enqueues the whole sort. The counters and the sums of blocks and octaves must be 0. If pixels
/// were lost, the result is of no use.
template <class Exec, class T>
void sort_gathered(const Exec& space, const Brackets<T>* brackets, const Segments<T>& segments,
                   const SortedBins<T>& sorted) {
  using Shared = SharedBins<Exec, T>;
  const core::GroupShape sharing{core::groups_for(space, segments.segments, 1, 2),
                                 Shared::scratch_bytes};
  core::for_each_group<CountBins<Exec, T>::threads, 2>(
      "kastor::sigma_clip::count_bins", space, sharing,
      CountBins<Exec, T>{brackets, segments, sorted.count});
  core::for_each_group<PlaceBins<Exec, T>::threads>("kastor::sigma_clip::place_bins", space,
                                                    {1, PlaceBins<Exec, T>::scratch_bytes},
                                                    PlaceBins<Exec, T>{sorted});
  core::for_each_group<ScatterPixels<Exec, T>::threads, 2>(
      "kastor::sigma_clip::scatter_pixels", space, sharing,
      ScatterPixels<Exec, T>{brackets, segments, sorted});
  core::for_each_group<SumTailBins<Exec, T>::threads>(
      "kastor::sigma_clip::sum_tail_bins", space,
      {core::groups_for(space, GatheredBins<T>::tails, 1, 32)},
      SumTailBins<Exec, T>{brackets, sorted});
}

}  // namespace kastor::detail

#endif
