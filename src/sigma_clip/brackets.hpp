// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_BRACKETS_HPP
#define KASTOR_SIGMA_CLIP_BRACKETS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/fixed_point.hpp"
#include "core/interval.hpp"
#include "sigma_clip/predicted_clip.hpp"
#include "sigma_clip/rough_scale.hpp"

namespace kastor::detail {

/// The threshold of the foreground, as a function of the clip's result.
struct ClipLevel {
  double sigmas = 0;
  bool about_median = false;
  bool absolute = false;
  double value = 0;  ///< the threshold if absolute [image unit]

  [[nodiscard]] KOKKOS_FUNCTION double of(double median, double std) const {
    return absolute ? value : (about_median ? median : 0.0) + sigmas * std;
  }
};

/// What the caller asks of one attempt at a clip.
struct ClipRequest {
  double kappa;
  int max_passes;
  double widen;  ///< factor on the safety margins: more after a failure
  int attempt;   ///< how many attempts have failed
  ClipLevel level;
};

/// Where the clip's medians and limits can fall, according to the sample. Pixels strictly between
/// the edges survive every pass; pixels beyond them are the tails. Every median lies in the window.
template <class T>
struct Brackets {
  static constexpr int max_repeated = 8;
  T low_edge, window_low, window_high, high_edge;
  T centre;  ///< distances in all sums are measured from it; in the window
  core::Grid grid;
  int usable;                ///< 0: the sample was not good enough for brackets
  int repeated;              ///< number of values of the window that are counted, not gathered
  T value_of[max_repeated];  ///< these values, ascending
  T candidate;  ///< lower bound of the threshold: only pixels above it can be foreground

  [[nodiscard]] KOKKOS_FUNCTION bool inside(T x) const { return (x > low_edge) & (x < high_edge); }
  [[nodiscard]] KOKKOS_FUNCTION bool in_window(T x) const {
    return (x >= window_low) & (x <= window_high);
  }
};

/// For an image in which all, or almost all, pixels have one value.
template <class T>
KOKKOS_FUNCTION void bracket_one_value(T value, Brackets<T>& b) {
  b.window_low = b.window_high = b.centre = b.value_of[0] = value;
  // Near zero, keep the edges so far apart that one factor scales to the grid (`single_step`).
  constexpr double least = 1e-290;
  const T room = sizeof(T) == 8 && Kokkos::fabs(static_cast<double>(value)) < least
                     ? static_cast<T>(least)
                     : T{0};
  b.low_edge = core::next_below(value - room);
  b.high_edge = core::next_above(value + room);
  b.repeated = 1;
}

/// Derives window and edges from the clip of the sample.
template <class T>
KOKKOS_FUNCTION void bracket_prediction(const RoughScale<T>& rough, const SampleSumsBefore& sums,
                                        const PredictedClip& clip, Brackets<T>& b) {
  const auto value_at = [&](double t) { return rough.centre + t * rough.scale; };
  const auto bin_of_clamped_rank = [&](std::int64_t rank) {
    const std::int64_t n = sums.count[SampleBins::count];
    return sums.bin_of_rank(rank < 0 ? 0 : (rank < n ? rank : n - 1));
  };
  const int window_begin = bin_of_clamped_rank(clip.window_first);
  const int window_end = bin_of_clamped_rank(clip.window_last) + 1;
  // Edges within six sigmas of the middle keep the squares well above the step of their
  // grid. With a large kappa, the pixels beyond are gathered.
  const double reach = 6 * clip.sigma;
  const double middle = 0.5 * (clip.low + clip.high);
  const double low =
      clip.low + clip.margin > middle - reach ? clip.low + clip.margin : middle - reach;
  const double high =
      clip.high - clip.margin < middle + reach ? clip.high - clip.margin : middle + reach;
  // A few sample pixels must lie between an edge and every limit, so that the extremes of the
  // survivors are among the gathered pixels. Otherwise the edge moves to the window, and nothing
  // lies between.
  constexpr std::uint32_t some = 8;
  int low_bin = SampleBins::of(low) + 1;
  const int low_limit = SampleBins::of(clip.low + clip.margin) + 1;
  while (low_bin < window_begin && sums.count[low_bin] < sums.count[low_limit] + some) ++low_bin;
  int high_bin = SampleBins::of(high);
  const int high_limit = SampleBins::of(clip.high - clip.margin);
  while (high_bin > window_end && sums.count[high_bin] + some > sums.count[high_limit]) --high_bin;
  // A little wider, for pixels on the border of two bins.
  b.window_low = static_cast<T>(value_at(SampleBins::low_of(window_begin) - 1e-9));
  b.window_high = static_cast<T>(value_at(SampleBins::low_of(window_end) + 1e-9));
  b.low_edge = low_bin < window_begin ? static_cast<T>(value_at(SampleBins::low_of(low_bin)))
                                      : core::next_below(b.window_low);
  b.high_edge = high_bin > window_end ? static_cast<T>(value_at(SampleBins::low_of(high_bin)))
                                      : core::next_above(b.window_high);
  b.centre = static_cast<T>(value_at(clip.median));
  for (int i = 0; i < rough.repeated && b.repeated < Brackets<T>::max_repeated; ++i) {
    if (b.in_window(rough.value_of[i])) b.value_of[b.repeated++] = rough.value_of[i];
  }
}

/// Computes the brackets from the histogram of a sample of finite pixels.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION Brackets<T> bracket(const RoughScale<T>& rough,
                                                  const SampleSumsBefore& sums,
                                                  const ClipRequest& request) {
  Brackets<T> b{};
  if (rough.finite < rough_size / 16 || sums.count[SampleBins::count] < 1024) return b;
  PredictedClip clip;
  if (rough.scale == 0) {
    bracket_one_value(static_cast<T>(rough.centre), b);
  } else {
    if (!(rough.scale > 1e-290) || !(rough.scale < 1e290)) return b;
    // The limits of the last pass lie within all others, so they also serve a clip that stops
    // earlier. The sample determines them better than the first limits, which outliers move. With
    // a small kappa the clip may not converge; then the requested number of passes counts.
    const int max_passes = request.kappa < 2.5 ? request.max_passes : 0;
    clip = predict_clip(sums, request.kappa, max_passes, request.widen);
    if (!clip.usable) return b;
    bracket_prediction(rough, sums, clip, b);
  }
  b.grid = core::Grid(static_cast<double>(b.centre), static_cast<double>(b.low_edge),
                      static_cast<double>(b.high_edge));
  b.usable = b.low_edge < b.window_low && b.window_low <= b.window_high &&
                     b.window_high < b.high_edge && b.in_window(b.centre) && b.grid.single_step()
                 ? 1
                 : 0;
  // The threshold varies with the median and the std.
  const double sigma = clip.sigma * rough.scale;
  const double slack = (3 + 10 * Kokkos::fabs(request.level.sigmas)) * request.widen * sigma /
                           Kokkos::sqrt(static_cast<double>(clip.survivors + 1)) +
                       clip.margin * rough.scale;
  const double level = request.level.of(rough.centre + clip.median * rough.scale, sigma);
  b.candidate = core::bound_below<T>(request.level.absolute ? level : level - slack);
  return b;
}

}  // namespace kastor::detail

#endif
