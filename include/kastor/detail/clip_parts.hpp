// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_PARTS_HPP
#define KASTOR_DETAIL_CLIP_PARTS_HPP

#include <cstdint>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/replay.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/window_pixels.hpp>

namespace kastor::detail {

/// The small arrays of a clip, in memory of those who work on it.
template <class T>
struct ClipParts {
  PredictionSpace<T> prediction;
  std::uint64_t* begin;  ///< of a device's bins of the window
  PageCounts counts;     ///< of a device
  std::uint32_t* pages;
  T* of_a_bin;  ///< see PagedWindow
  TailSummaries<T> summaries;
  GatherTotals* totals;
  SegmentCounts* segments;
  GatherResult* read;
  ExpectedClip<T>* expected;
  RefinedBins<T>*refined_tails, *refined_window;
  ClipOutcome<T>* outcome;

  /// `Memory` is PartitionedMemory.
  template <class Memory>
  void lay_out(Memory& memory, int teams, bool of_device) {
    for (const bool measuring : {true, false}) {
      memory.begin(measuring);
      memory.add(prediction.rough_values, rough_size);
      memory.add(prediction.rough, 1);
      memory.add(prediction.histogram, SampleBins::count);
      memory.add(prediction.count, SampleBins::count + 1);
      memory.add(prediction.sum, SampleSums::size);
      memory.add(prediction.squares, SampleSums::size);
      memory.add(prediction.brackets, 1);
      memory.add(begin, of_device ? GatheredBins<T>::window + 1 : 0);
      memory.add(counts.of_bin, of_device ? SortedPages<T>::bins : 0);
      memory.add(counts.of_tail, of_device ? PageCounts::tail_bins : 0);
      memory.add(counts.joined, 1);
      memory.add(counts.placed, of_device ? PageCounts::tail_bins : 0);
      memory.add(pages, 1);
      memory.add(of_a_bin, of_device ? PagedWindow<T>::room : 0);
      memory.add(summaries.bins, of_device ? 2 * TailOctaves::bins : 0);
      memory.add(summaries.groups, of_device ? 2 * TailOctaves::groups : 0);
      memory.add(summaries.octaves, of_device ? 2 * TailOctaves::count : 0);
      memory.add(totals, teams);
      memory.add(segments, teams);
      memory.add(read, 1);
      memory.add(expected, of_device ? 1 : 0);
      memory.add(refined_tails, of_device ? 1 : 0);
      memory.add(refined_window, of_device ? 1 : 0);
      memory.add(outcome, 1);
    }
  }
};

}  // namespace kastor::detail

#endif
