// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_PREDICTED_CLIP_HPP
#define KASTOR_SIGMA_CLIP_PREDICTED_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "sigma_clip/sample_bins.hpp"

namespace kastor::detail {

/// The result of clipping the histogram, and how far its limits and medians may be off; in units of
/// the rough scale.
struct PredictedClip {
  bool usable = false;
  double median = 0, sigma = 0;  ///< of the last pass
  double low = 0, high = 0;      ///< limits of the last pass
  double margin = 0;             ///< uncertainty of a limit
  std::int64_t survivors = 0;
  /// Range of the ranks of all medians in the sample.
  std::int64_t window_first = 0, window_last = -1;
};

struct BinRange {
  int first, last;
};

/// The bins, among those of `of`, whose middles are within the limits.
[[nodiscard]] KOKKOS_INLINE_FUNCTION BinRange bins_between(double low, double high,
                                                           const BinRange& of) {
  const auto edge = [](double limit, bool upper) {
    const int bin = SampleBins::of(limit);
    const auto middle = static_cast<double>(SampleBins::middle_of(bin));
    const double scaled = limit * 2048;
    return bin + (((middle < scaled) | (!upper & (middle == scaled))) ? 1 : 0);
  };
  const int first = edge(low, false), last = edge(high, true);
  return {first > of.first ? first : of.first, last < of.last ? last : of.last};
}

/// Median and standard deviation of one pass, from its bins.
KOKKOS_INLINE_FUNCTION void describe_pass(const SampleSumsBefore& sums, const BinRange& bins,
                                          PredictedClip& clip) {
  const SampleSums in = sums.between(bins.first, bins.last);
  const auto n = static_cast<double>(in.count);
  const std::int64_t middle = sums.count[bins.first] + in.count / 2;
  const int bin = sums.bin_of_rank(middle);
  const std::int64_t in_bin = middle - static_cast<std::int64_t>(sums.count[bin]);
  const double share = (static_cast<double>(in_bin) + 0.5) /
                       static_cast<double>(sums.count[bin + 1] - sums.count[bin]);
  clip.median = SampleBins::low_of(bin) + share * SampleBins::width_of(bin);
  const auto total = static_cast<double>(in.sum);
  const double variance = (static_cast<double>(in.squares) - total * (total / n)) / n;
  clip.sigma = Kokkos::sqrt(variance > 0 ? variance : 0.0) / 2048;
}

/// The plain iteration on the bins. `widen` is a factor on the margins.
[[nodiscard]] KOKKOS_INLINE_FUNCTION PredictedClip predict_clip(const SampleSumsBefore& sums,
                                                                double kappa, int max_passes,
                                                                double widen) {
  constexpr int most_passes = 100;
  constexpr std::int64_t fewest = 256;
  PredictedClip clip;
  clip.window_first = sums.count[SampleBins::count];
  BinRange bins{0, SampleBins::count};
  for (int pass = 1; pass <= most_passes; ++pass) {
    const std::int64_t before = sums.count[bins.first];
    const std::int64_t n = static_cast<std::int64_t>(sums.count[bins.last]) - before;
    if (n < fewest) return clip;
    // Five standard errors of the rank of a median.
    const std::int64_t middle = before + n / 2;
    const auto ranks = static_cast<std::int64_t>(
                           2.5 * widen * static_cast<double>(Kokkos::sqrt(static_cast<float>(n)))) +
                       3;
    clip.window_first = middle - ranks < clip.window_first ? middle - ranks : clip.window_first;
    clip.window_last = middle + ranks > clip.window_last ? middle + ranks : clip.window_last;
    describe_pass(sums, bins, clip);
    clip.low = clip.median - kappa * clip.sigma;
    clip.high = clip.median + kappa * clip.sigma;
    clip.survivors = n;
    const BinRange next = bins_between(clip.low, clip.high, bins);
    if (next.last <= next.first) return clip;
    const bool same = sums.count[next.first] == sums.count[bins.first] &&
                      sums.count[next.last] == sums.count[bins.last];
    if (same || pass == max_passes) break;
    bins = next;
  }
  // Ten standard errors of a limit, plus the width of a bin. This includes how a difference at one
  // limit moves the following ones.
  const double low_width = SampleBins::width_of(SampleBins::of(clip.low));
  const double high_width = SampleBins::width_of(SampleBins::of(clip.high));
  clip.margin =
      widen * (10 * kappa * clip.sigma / Kokkos::sqrt(static_cast<double>(clip.survivors)) +
               1.5 * (low_width > high_width ? low_width : high_width));
  clip.usable = clip.sigma > 0;
  return clip;
}

}  // namespace kastor::detail

#endif
