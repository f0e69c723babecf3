// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BRACKETS_HPP
#define KASTOR_DETAIL_BRACKETS_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <kastor/detail/clip_sample.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/divisor.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/sigma_clip.hpp>

namespace kastor::detail {

/// A threshold in terms of a clip's result.
struct ClipLevel {
  double sigmas = 0;
  bool about_median = false;
  bool absolute = false;
  double value = 0;  ///< if absolute

  [[nodiscard]] KOKKOS_FUNCTION double of(double median, double std) const {
    return absolute ? value : (about_median ? median : 0.0) + sigmas * std;
  }
};

/// Where the sample says that the clip's medians and limits can fall. Pixels strictly between the
/// edges survive every pass; those beyond are the tails. Every median lies in the window.
template <class T>
struct Brackets {
  static constexpr int max_spikes = 8;
  T low_edge, window_low, window_high, high_edge;
  T centre;  ///< of all sums; strictly between the edges
  Grid grid;
  int usable;  ///< 0: the sample is of no use
  int spikes;  ///< values of the window so frequent that they are counted, not gathered
  T spike[max_spikes];
  int has_candidate;
  T candidate;  ///< the level asked for is not below it
  T certain;    ///< nor above this; infinite if the clip may be stopped before that is so

  [[nodiscard]] KOKKOS_FUNCTION bool inside(T x) const { return (x > low_edge) & (x < high_edge); }
  [[nodiscard]] KOKKOS_FUNCTION bool in_window(T x) const {
    return (x >= window_low) & (x <= window_high);
  }
};

/// The clip of the histogram, and how far its limits and medians may be off.
struct PredictedClip {
  bool usable = false;
  double median = 0, sigma = 0;  ///< the last pass's, in units of the rough scale
  double low = 0, high = 0;      ///< the last limits
  double margin = 0;             ///< of a limit
  std::int64_t survivors = 0;
  std::int64_t window_first = 0, window_last = 0;  ///< ranks in the sample, of all medians
};

/// So many threads of a device predict a clip, all of them the same: a warp, which searches faster.
#ifdef __CUDA_ARCH__
inline constexpr int predicting_threads = lanes;
#else
inline constexpr int predicting_threads = 1;
#endif

/// The bin that holds a rank.
[[nodiscard]] KOKKOS_INLINE_FUNCTION int bin_of_rank(const SampleSums& sums, std::int64_t rank) {
  return last_not_above_by_lanes(sums.count, SampleBins::count, static_cast<std::uint32_t>(rank));
}

struct BinRange {
  int first, last;
};
/// Bins whose middles are within the limits, of some.
[[nodiscard]] KOKKOS_INLINE_FUNCTION BinRange bins_between(const PredictedClip& clip, int first,
                                                           int last) {
  int edges[2];
  by_lanes(edges, [&clip](int side) {
    const bool upper = side == 1;
    const double limit = upper ? clip.high : clip.low;
    const int bin = SampleBins::of(limit);
    const auto middle = static_cast<double>(SampleBins::middle_of(bin));
    const double scaled = limit * 2048;
    return bin + (((middle < scaled) | (!upper & (middle == scaled))) ? 1 : 0);
  });
  const auto [low, high] = edges;
  return {low > first ? low : first, high < last ? high : last};
}

[[nodiscard]] KOKKOS_INLINE_FUNCTION PredictedClip predict_clip(const SampleSums& sums,
                                                                double kappa, int max_passes,
                                                                double widen) {
  constexpr int most_passes = 100;
  constexpr std::int64_t fewest = 256;
  PredictedClip clip;
  clip.window_first = sums.count[SampleBins::count];
  clip.window_last = -1;
  int first = 0;
  int last = SampleBins::count;
  int bin = SampleBins::side;
  for (int pass = 1; pass <= most_passes; ++pass) {
    const std::int64_t before = sums.count[first];
    const std::int64_t n = static_cast<std::int64_t>(sums.count[last]) - before;
    if (n < fewest) return clip;
    // On their way while the median is looked for.
    const SampleSums::Between sum = sums.sum_between(first, last);
    const SampleSums::Between squares = sums.squares_between(first, last);
    const std::int64_t middle = before + n / 2;
    // Five standard errors of a median's rank.
    const auto ranks = static_cast<std::int64_t>(
                           2.5 * widen * static_cast<double>(Kokkos::sqrt(static_cast<float>(n)))) +
                       3;
    clip.window_first = middle - ranks < clip.window_first ? middle - ranks : clip.window_first;
    clip.window_last = middle + ranks > clip.window_last ? middle + ranks : clip.window_last;
    bin =
        last_not_above_near(sums.count, SampleBins::count, static_cast<std::uint32_t>(middle), bin);
    // Two quotients at once: 1 / n, and the share of the bin up to the middle.
    double quotients[2];
    by_lanes(quotients, [&](int which) {
      const std::int64_t in_bin = middle - static_cast<std::int64_t>(sums.count[bin]);
      const double x = which == 0 ? 1.0 : static_cast<double>(in_bin) + 0.5;
      return x / static_cast<double>(which == 0 ? n : sums.count[bin + 1] - sums.count[bin]);
    });
    double borders[2];
    by_lanes(borders, [&](int which) { return SampleBins::low_of(bin + which); });
    clip.median = borders[0] + quotients[1] * (borders[1] - borders[0]);
    const Divisor count(n, quotients[0]);
    const double total = sum.value();
    const double variance = count.quotient(squares.value() - total * count.quotient(total));
    clip.sigma = Kokkos::sqrt(variance > 0 ? variance : 0.0) / 2048;
    clip.low = clip.median - kappa * clip.sigma;
    clip.high = clip.median + kappa * clip.sigma;
    clip.survivors = n;
    const auto [new_first, new_last] = bins_between(clip, first, last);
    if (new_last <= new_first) return clip;
    const bool same =
        sums.count[new_first] == sums.count[first] && sums.count[new_last] == sums.count[last];
    if (same || pass == max_passes) break;
    first = new_first;
    last = new_last;
  }
  // Ten standard errors of a limit, which leaves room for how a different pixel at a limit moves
  // the next ones, and a bin.
  const int low_bin = SampleBins::of(clip.low);
  const int high_bin = SampleBins::of(clip.high);
  const double low_width = SampleBins::high_of(low_bin) - SampleBins::low_of(low_bin);
  const double high_width = SampleBins::high_of(high_bin) - SampleBins::low_of(high_bin);
  clip.margin =
      widen * (10 * kappa * clip.sigma / Kokkos::sqrt(static_cast<double>(clip.survivors)) +
               1.5 * (low_width > high_width ? low_width : high_width));
  clip.usable = clip.sigma > 0;
  return clip;
}

/// For an image all whose pixels, or nearly, have one value.
template <class T>
KOKKOS_FUNCTION void bracket_one_value(T value, Brackets<T>& b) {
  b.window_low = b.window_high = b.centre = b.spike[0] = value;
  // Above the denormal numbers, for the grid's sake.
  constexpr double least = 1e-290;
  const T room = sizeof(T) == 8 && Kokkos::fabs(static_cast<double>(value)) < least
                     ? static_cast<T>(least)
                     : T{0};
  b.low_edge = next_below(value - room);
  b.high_edge = next_above(value + room);
  b.spikes = 1;
}

/// Brackets from the histogram of a sample of finite pixels. `widen` multiplies the safety margins.
template <class T>
KOKKOS_FUNCTION void bracket(const RoughScale<T>& rough, const SampleSums& sums, double kappa,
                             int max_passes, double widen, const ClipLevel& level, Brackets<T>& b) {
  b = Brackets<T>{};
  if (rough.finite < rough_size / 16 || sums.count[SampleBins::count] < 1024) return;
  const auto value_at = [&](double t) { return rough.centre + t * rough.scale; };
  const bool foresees_stops = kappa < 2.5;
  PredictedClip clip;
  if (rough.scale == 0) {
    bracket_one_value(static_cast<T>(rough.centre), b);
  } else {
    if (!(rough.scale > 1e-290) || !(rough.scale < 1e290)) return;
    // The limits of the last pass lie within all others, so they will do for a clip that is stopped
    // earlier, and a sample knows them better than the first ones, which far outliers move. A small
    // kappa may have no last pass.
    clip = predict_clip(sums, kappa, foresees_stops ? max_passes : 0, widen);
    if (!clip.usable) return;
    const auto bin_of_clamped_rank = [&](std::int64_t rank) {
      const auto n = static_cast<std::int64_t>(sums.count[SampleBins::count]);
      return bin_of_rank(sums, rank < 0 ? 0 : (rank < n ? rank : n - 1));
    };
    const int window_begin = bin_of_clamped_rank(clip.window_first);
    const int window_end = bin_of_clamped_rank(clip.window_last) + 1;
    // A core within a few sigmas keeps its squares well above the step of their grid; for a large
    // kappa the rest is gathered.
    const double reach = 6 * clip.sigma;
    const double middle = 0.5 * (clip.low + clip.high);
    const double low =
        clip.low + clip.margin > middle - reach ? clip.low + clip.margin : middle - reach;
    const double high =
        clip.high - clip.margin < middle + reach ? clip.high - clip.margin : middle + reach;
    // A few sample pixels lie between an edge and every limit, so that the extremes of the
    // survivors are among the gathered; or else nothing lies between window and edge.
    constexpr std::uint32_t some = 8;
    int low_bin = SampleBins::of(low) + 1;
    const int low_limit = SampleBins::of(clip.low + clip.margin) + 1;
    while (low_bin < window_begin && sums.count[low_bin] < sums.count[low_limit] + some) ++low_bin;
    int high_bin = SampleBins::of(high);
    const int high_limit = SampleBins::of(clip.high - clip.margin);
    while (high_bin > window_end && sums.count[high_bin] + some > sums.count[high_limit])
      --high_bin;
    // A little more, for pixels on the border of two bins.
    b.window_low = static_cast<T>(value_at(SampleBins::low_of(window_begin) - 1e-9));
    b.window_high = static_cast<T>(value_at(SampleBins::low_of(window_end) + 1e-9));
    b.low_edge = low_bin < window_begin ? static_cast<T>(value_at(SampleBins::low_of(low_bin)))
                                        : next_below(b.window_low);
    b.high_edge = high_bin > window_end ? static_cast<T>(value_at(SampleBins::low_of(high_bin)))
                                        : next_above(b.window_high);
    b.centre = static_cast<T>(value_at(clip.median));
    for (int i = 0; i < rough.spikes && b.spikes < Brackets<T>::max_spikes; ++i) {
      if (b.in_window(rough.spike[i])) b.spike[b.spikes++] = rough.spike[i];
    }
  }
  b.grid = Grid(static_cast<double>(b.centre), static_cast<double>(b.low_edge),
                static_cast<double>(b.high_edge));
  b.usable = b.low_edge < b.window_low && b.window_low <= b.window_high &&
                     b.window_high < b.high_edge && b.inside(b.centre) && b.grid.single_step()
                 ? 1
                 : 0;
  // The level moves as the median and std do.
  const double sigma = clip.sigma * rough.scale;
  const double slack = (3 + 10 * Kokkos::fabs(level.sigmas)) * widen * sigma /
                           Kokkos::sqrt(static_cast<double>(clip.survivors + 1)) +
                       clip.margin * rough.scale;
  const double expected = level.of(value_at(clip.median), sigma);
  const auto bound_of = [](double least) {
    return interval_between<T>(least, Kokkos::Experimental::infinity_v<double>).low;
  };
  b.candidate = bound_of(level.absolute ? expected : expected - slack);
  const bool may_be_stopped = max_passes > 0 && !foresees_stops;
  b.certain = level.absolute   ? b.candidate
              : may_be_stopped ? Kokkos::Experimental::infinity_v<T>
                               : bound_of(expected + slack);
  b.has_candidate = b.candidate >= b.high_edge ? 1 : 0;
}

}  // namespace kastor::detail

#endif
