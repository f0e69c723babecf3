// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_CLIP_STEPS_HPP
#define KASTOR_SIGMA_CLIP_CLIP_STEPS_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/sigma_clip.hpp>

#include "core/plan_memory.hpp"
#include "sigma_clip/brackets.hpp"
#include "sigma_clip/read.hpp"
#include "sigma_clip/replay.hpp"
#include "sigma_clip/sample.hpp"
#include "sigma_clip/segments.hpp"

/// One attempt at a clip, as a sequence of kernels:
///
///   rough scale   one group     median and spread of 256 pixels
///   sample        some groups   2.5 N^(2/3) pixels into a histogram
///   brackets      one group     clip of the histogram: where limits and medians can fall
///   read          many groups   THE read of the image: sums between the edges, the rest gathered
///   sort          many groups   gathered pixels into bins: count, scan, scatter; sums of bins
///   replay        one group     every pass, exactly, from the sums and the bins
namespace kastor::detail {

/// Owns what the steps share. All functions only enqueue. Instantiated only in clip_steps.cpp.
template <class Exec, class T>
class ClipSteps {
 public:
  using Bins = GatheredBins<T>;

  /// The small arrays, in the memory of `Exec`. The counters come first and are cleared together.
  struct Parts {
    std::uint32_t* histogram;  ///< (SampleBins::count)
    InsideTotals* totals;
    std::uint32_t* segment_counts;
    std::uint32_t* bin_count;
    TailSums *block, *octave;
    std::byte* past_counters;
    T* rough_values;  ///< (rough_size)
    RoughScale<T>* rough;
    std::int64_t *sample_sum, *sample_squares;
    Brackets<T>* brackets;
    std::uint32_t* bin_begin;
    TailSums* tail;
    ClipOutcome<T>* outcome;
  };

  /// \throws Error if a parameter is out of its range.
  ClipSteps(const Exec& space, const SigmaClipParams& params);

  /// The request of an attempt at the clip of so many pixels. \param attempt  from 0
  [[nodiscard]] ClipRequest request(std::int64_t pixels, int attempt, const ClipLevel& level) const;

  /// Clears the counters of the last attempt.
  void begin();
  /// Reads what a band has of the few hundred pixels; after the last band, `describe` them.
  void add_rough(const SampledRows<T>& band, const ClipRequest& request, std::int64_t pixels,
                 bool describe);
  /// Counts what a band has of the sample.
  void add_sample(const SampledRows<T>& band, const ClipRequest& request, std::int64_t pixels);
  void make_brackets(const ClipRequest& request);
  /// Reads a band. \param mask  words of the band's mask, all 0; null if none is wanted
  /// \param tiles_before  tiles of the bands read before, if there may be very many bands
  void read(const Rows<T>& band, std::uint64_t* mask, std::int64_t tiles_before = 0);
  [[nodiscard]] static std::int64_t tiles_of(const Rows<T>& band);
  void sort();
  void replay(const ClipRequest& request, std::int64_t pixels);

  /// Makes room for this many gathered pixels, and for part of a tile in addition in each segment.
  void reserve(std::int64_t pixels);
  void reserve_segments(std::int64_t capacity);
  /// False if there is no memory for the lists, or they would be too long. The multi-pass clip
  /// needs none.
  [[nodiscard]] bool can_reserve(std::int64_t capacity);
  [[nodiscard]] std::int64_t capacity() const { return m_capacity; }

  [[nodiscard]] const Parts& parts() const { return m_parts; }
  [[nodiscard]] Segments<T> segments() const {
    return {m_gathered.data(), m_capacity, m_parts.segment_counts, m_segments};
  }
  [[nodiscard]] SortedBins<T> sorted() const {
    return {m_sorted.data(), m_parts.bin_count, m_parts.bin_begin,
            m_parts.tail,    m_parts.block,     m_parts.octave};
  }
  /// The outcome of `replay`, after a fence.
  [[nodiscard]] ClipOutcome<T>& outcome() const { return m_outcome(); }
  /// Clears words of memory that kernels reach.
  void clear(void* begin, void* past) const;

 private:
  static constexpr int groups_of_processor = 3;  ///< groups per multiprocessor that read the image
  void lay_out();

  Exec m_space;
  SigmaClipParams m_params;
  std::int64_t m_segments;  ///< segments of the gathered pixels; as many groups read the image
  core::PartitionedMemory<Exec> m_memory;
  Parts m_parts{};
  Kokkos::View<ClipOutcome<T>, core::HostReadableSpace<Exec>> m_outcome;
  Kokkos::View<T*, typename Exec::memory_space> m_gathered, m_sorted;
  std::int64_t m_capacity = 0;  ///< pixels that fit into a segment
};

}  // namespace kastor::detail

#endif
