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

/// The clip as a sequence of kernels that nobody waits for in between:
///
///   rough scale   one group     quartiles of 256 pixels
///   sample        some groups   every so many pixels into a histogram, N^(2/3) in all
///   brackets      one group     the clip of the histogram: where limits and medians can be
///   read          many groups   THE read of the image: sums inside, the rest gathered
///   sort          many groups   the gathered pixels into bins: count, scan, scatter; sums of bins
///   replay        one group     every pass, exactly, from the sums and the bins
///
/// Every step is exact or checked: the sums are integers, and the replay knows when a limit or a
/// median falls where pixels were not gathered. Then, or if the lists were too short, the host
/// starts again with longer lists or wider brackets, which rest on other pixels, and at last reads
/// the image in every pass.
namespace kastor::detail {

/// Compiled once, in clip_plan.cpp.
template <class Exec, class T>
class ClipPlan {
 public:
  /// \throws Error if a parameter is out of its range.
  ClipPlan(const Exec& space, const SigmaClipParams& params);

  /// Enqueues the clip of an image, unless it is so small that `finish` reads it in every pass. The
  /// pixels that may be above `level` are marked in the mask, if there is one: words of the whole
  /// image, row by row.
  void start(Bands<T, Exec> bands, const ClipLevel& level, std::uint64_t* mask);

  [[nodiscard]] bool started() const { return m_started; }
  /// After a fence of the space.
  [[nodiscard]] bool decided() const { return m_outcome().decided != 0; }
  /// For the kernels that follow `start`.
  [[nodiscard]] const ClipOutcome<T>* outcome() const { return m_parts.outcome; }

  /// Whatever it takes. Fences. \throws Error if no pixel is finite.
  [[nodiscard]] SigmaClipResult finish(Bands<T, Exec> bands);

 private:
  using Bins = GatheredBins<T>;
  static constexpr std::int64_t smallest_sampled = 16384;  ///< smaller images are read as often
  static constexpr int groups_of_processor = 3;            ///< that read the image

  /// The small arrays. The counters come first, and are cleared in one go.
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
  /// Room for so many gathered pixels, and a part of a tile more for each segment.
  void reserve(std::int64_t pixels);
  void reserve_segments(std::int64_t capacity);
  /// False: no memory for lists, or they would be too long. The multi-pass clip needs none.
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
  /// Longer lists, or wider brackets up to three times. Fences.
  void try_again(Bands<T, Exec> bands);

  Exec m_space;
  SigmaClipParams m_params;
  std::int64_t m_segments;  ///< of the gathered pixels; as many groups read the image
  core::PartitionedMemory<Exec> m_memory;
  Parts m_parts{};
  Kokkos::View<ClipOutcome<T>, core::HostReadableSpace<Exec>> m_outcome;
  RankSelector<Exec, T> m_selector;
  Kokkos::View<T*, typename Exec::memory_space> m_gathered, m_sorted;
  std::int64_t m_capacity = 0;  ///< of a segment

  std::int64_t m_pixels = 0;
  ClipLevel m_level;
  std::uint64_t* m_mask = nullptr;
  std::int64_t m_words = 0;  ///< of the mask
  bool m_started = false;
};

}  // namespace kastor::detail

#endif
