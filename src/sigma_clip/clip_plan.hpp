// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_CLIP_PLAN_HPP
#define KASTOR_SIGMA_CLIP_CLIP_PLAN_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/sigma_clip.hpp>

#include "core/plan_memory.hpp"
#include "sigma_clip/brackets.hpp"
#include "sigma_clip/rank_selector.hpp"
#include "sigma_clip/read.hpp"
#include "sigma_clip/replay.hpp"
#include "sigma_clip/segments.hpp"

/// The clip as a sequence of kernels without a fence in between:
///
///   rough scale   one group     median and spread of 256 pixels
///   sample        some groups   2.5 N^(2/3) pixels at a fixed stride into a histogram
///   brackets      one group     clip of the histogram: where limits and medians can fall
///   read          many groups   THE read of the image: sums between the edges, the rest gathered
///   sort          many groups   gathered pixels into bins: count, scan, scatter; sums of bins
///   replay        one group     every pass, exactly, from the sums and the bins
///
/// Every step is exact or checked: sums are integers, and the replay detects a limit or a median
/// that falls where pixels were not gathered. After that, or if the lists were too short, the host
/// starts again with longer lists, or with wider brackets from a different sample. As a last resort
/// every pass reads the image.
namespace kastor::detail {

/// Instantiated only in clip_plan.cpp.
template <class Exec, class T>
class ClipPlan {
 public:
  /// \throws Error if a parameter is out of its range.
  ClipPlan(const Exec& space, const SigmaClipParams& params);

  /// Enqueues the clip of an image, unless the image is so small that `finish` reads it in every
  /// pass. Marks the pixels that may be above `level` in `mask` (words of the whole image, row by
  /// row), unless it is null.
  void start(Bands<T, Exec> bands, const ClipLevel& level, std::uint64_t* mask);

  [[nodiscard]] bool started() const { return m_started; }
  /// Whether the clip has succeeded; to be called after a fence of the space.
  [[nodiscard]] bool decided() const { return m_outcome().decided != 0; }
  /// The outcome, for kernels that are enqueued after `start`.
  [[nodiscard]] const ClipOutcome<T>* outcome() const { return m_parts.outcome; }

  /// Completes the clip, with further attempts or reads if necessary. Fences. \throws Error if no
  /// pixel is finite.
  [[nodiscard]] SigmaClipResult finish(Bands<T, Exec> bands);

 private:
  using Bins = GatheredBins<T>;
  /// Smaller images take the multi-pass route.
  static constexpr std::int64_t smallest_sampled = 16384;
  static constexpr int groups_of_processor = 3;  ///< groups per multiprocessor that read the image

  /// The small arrays. The counters come first and are cleared together.
  struct Parts {
    std::uint32_t* histogram;
    InsideTotals* totals;
    std::uint32_t* segment_counts;
    std::uint32_t* bin_count;
    TailSums *block, *octave;
    std::byte* past_counters;
    T* rough_values;
    RoughScale<T>* rough;
    std::int64_t *sample_sum, *sample_squares;
    Brackets<T>* brackets;
    std::uint32_t* bin_begin;
    TailSums* tail;
    ClipOutcome<T>* outcome;
  };
  void lay_out();
  void clear(void* begin, void* past);
  /// Makes room for this many gathered pixels, and for part of a tile in addition in each segment.
  void reserve(std::int64_t pixels);
  void reserve_segments(std::int64_t capacity);
  /// False if there is no memory for the lists, or they would be too long. The multi-pass clip
  /// needs none.
  [[nodiscard]] bool can_reserve(std::int64_t capacity);
  [[nodiscard]] Segments<T> segments() const {
    return {m_gathered.data(), m_capacity, m_parts.segment_counts, m_segments};
  }

  void enqueue(Bands<T, Exec> bands, double widen);
  void enqueue_sample(Bands<T, Exec> bands, const ClipRequest& request);
  void enqueue_read(Bands<T, Exec> bands);
  /// `visit(band, is_last)` for the bands that have pixels.
  template <class Visit>
  void for_each_band(Bands<T, Exec> bands, const Visit& visit) const;
  /// Tries again with longer lists, or with wider brackets up to three times. Fences.
  void try_again(Bands<T, Exec> bands);

  Exec m_space;
  SigmaClipParams m_params;
  std::int64_t m_segments;  ///< segments of the gathered pixels; as many groups read the image
  core::PartitionedMemory<Exec> m_memory;
  Parts m_parts{};
  Kokkos::View<ClipOutcome<T>, core::HostReadableSpace<Exec>> m_outcome;
  RankSelector<Exec, T> m_selector;
  Kokkos::View<T*, typename Exec::memory_space> m_gathered, m_sorted;
  std::int64_t m_capacity = 0;  ///< pixels that fit into a segment

  std::int64_t m_pixels = 0;
  ClipLevel m_level;
  std::uint64_t* m_mask = nullptr;
  std::int64_t m_words = 0;  ///< words of the mask
  bool m_started = false;
};

}  // namespace kastor::detail

#endif
