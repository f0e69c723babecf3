// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_ROUGH_SCALE_HPP
#define KASTOR_SIGMA_CLIP_ROUGH_SCALE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "sigma_clip/sample_bins.hpp"

/// Estimates from a few hundred pixels where the pixels of an image lie, to choose the bins of the
/// sample.
namespace kastor::detail {

inline constexpr int rough_size = 256;

template <class T>
struct RoughScale {
  static constexpr int max_repeated = 16;
  double centre;  ///< median of the pixels
  double scale;   ///< usually about one standard deviation; 0 if all pixels are equal
  int finite;
  int repeated;              ///< number of repeated values
  T value_of[max_repeated];  ///< the repeated values, ascending

  [[nodiscard]] KOKKOS_FUNCTION SampleBins bins() const {
    return {centre, scale > 0 ? 1 / scale : 0.0};
  }
};

/// Half the distance between two values, without overflow.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double half_distance(double low, double high) {
  return 0.5 * high - 0.5 * low;
}

/// The spread of sorted values about their median; robust against ties.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION double spread_of(const T* sorted, int n) {
  // Half the distance between two quantiles of a Gaussian, in standard deviations.
  constexpr double sigmas[] = {0.6745, 1.5341, 2.1539, 2.9};
  constexpr int shifts[] = {2, 4, 6, 30};
  for (int i = 0; i < 4; ++i) {
    const int k = n >> shifts[i];
    const double half =
        half_distance(static_cast<double>(sorted[k]), static_cast<double>(sorted[n - 1 - k]));
    if (half > 0) return half / sigmas[i];
  }
  return 0;
}

/// A scale for the bins of the sample that suits images with several peaks. It is the spread,
/// unless then the bins would be too wide for the narrowest peak with three eighths of the pixels,
/// or a tenth of the pixels would lie beyond all bins on one side.
template <class T>
class ScaleOfPeaks {
 public:
  KOKKOS_FUNCTION ScaleOfPeaks(const T* sorted, int n) : m_sorted(sorted), m_n(n) {}

  [[nodiscard]] KOKKOS_FUNCTION double operator()() const {
    // Half the range of the middle 3/8 of a Gaussian, in standard deviations.
    constexpr double gaussian = 0.4888;
    const double spread = spread_of(m_sorted, m_n);
    double narrow = spread;
    for (int i = 0; i + of_window <= steps; ++i) {
      const double half = half_between(i * m_n / steps, (i + of_window) * m_n / steps - 1);
      narrow = half < gaussian * narrow ? half / gaussian : narrow;
    }
    const bool is_narrow = narrow > 0 && 16 * narrow < spread;
    if (!is_narrow && !(half_range_without(m_n * 3 / 32) > 500 * spread)) return spread;
    const double scale = is_narrow ? narrow : spread;
    // All but a few pixels are within 900 units of the centre.
    const double least = half_range_without(m_n / 32) / 450;
    return scale > least ? scale : least;
  }

 private:
  static constexpr int steps = 16, of_window = 6;

  [[nodiscard]] KOKKOS_FUNCTION double half_between(int from, int to) const {
    if (to < from) return 0;
    return half_distance(static_cast<double>(m_sorted[from]), static_cast<double>(m_sorted[to]));
  }
  /// Half the distance from the centre to the farthest pixel, without the k outermost pixels on
  /// each side.
  [[nodiscard]] KOKKOS_FUNCTION double half_range_without(int k) const {
    const double below = half_between(k, m_n / 2), above = half_between(m_n / 2, m_n - 1 - k);
    return below > above ? below : above;
  }

  const T* m_sorted;
  int m_n;
};

/// Whether a repeated value begins at index i of sorted pixels. A value that one pixel in 64 has
/// occurs too often to be gathered pixel by pixel.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION bool begins_repeated(const T* sorted, int n, int i) {
  constexpr int often = rough_size / 64;
  return i + often <= n && (i == 0 || sorted[i - 1] < sorted[i]) &&
         sorted[i + often - 1] == sorted[i];
}

/// Describes sorted finite pixels. `of_peaks`: use ScaleOfPeaks. `repeats`: whether there are
/// repeated values.
template <class T>
[[nodiscard]] KOKKOS_FUNCTION RoughScale<T> describe_sorted(const T* sorted, int n, bool of_peaks,
                                                            bool repeats) {
  RoughScale<T> rough{};
  rough.finite = n;
  if (n == 0) return rough;
  rough.centre = static_cast<double>(sorted[n / 2]) + 0.0;  // turns -0 into +0
  rough.scale = of_peaks ? ScaleOfPeaks<T>(sorted, n)() : spread_of(sorted, n);
  for (int i = 0; repeats && i < n && rough.repeated < RoughScale<T>::max_repeated; ++i) {
    if (begins_repeated(sorted, n, i)) rough.value_of[rough.repeated++] = sorted[i];
  }
  return rough;
}

}  // namespace kastor::detail

#endif
