// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CLIP_SAMPLE_HPP
#define KASTOR_DETAIL_CLIP_SAMPLE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/sample_host.hpp>

/// The sample that predicts a clip: every so many pixels of the image, counted into a histogram.
/// First a few hundred of them tell the histogram where the pixels lie.
namespace kastor::detail {

/// Pixels 0, stride, 2 stride ... of an image in raster order.
struct Stride {
  std::int64_t stride = 1;
  std::int64_t count = 0;

  Stride() = default;
  /// About `wanted` of them. Odd, so that it does not run along the columns of images whose width
  /// is a power of two.
  Stride(std::int64_t pixels, std::int64_t wanted)
      : stride(std::max<std::int64_t>(1, pixels / wanted) | 1),
        count((pixels + stride - 1) / stride) {}
};

inline constexpr int rough_size = 256;
/// Enough that sampling and the pixels gathered for its uncertainty cost about the same: the 2/3
/// power of Floyd and Rivest (CACM 18 (1975) 165).
[[nodiscard]] inline std::int64_t sample_size(std::int64_t pixels) {
  auto root = static_cast<std::int64_t>(std::cbrt(static_cast<double>(pixels)));
  while (root * root * root > pixels) --root;
  while ((root + 1) * (root + 1) * (root + 1) <= pixels) ++root;
  return std::clamp<std::int64_t>(root * root * 5 / 2, 4096, std::int64_t{1} << 22);
}

/// The pixels that the rough scale is found from.
struct RoughPixels : Stride {
  bool of_peaks = false;  ///< see ScaleOfPeaks
};

/// Of the first attempt at a clip (0) or a later one. Those take other pixels: of an image with a
/// period the first ones may all lie at the same places of it. And they look for several peaks,
/// which would cost every image what few need.
[[nodiscard]] inline RoughPixels rough_pixels(std::int64_t pixels, int attempt) {
  const int wanted = attempt == 0 ? rough_size : (attempt == 1 ? 243 : 229);
  return {Stride(pixels, wanted), attempt > 0};
}
/// Likewise the sample.
[[nodiscard]] inline Stride sample_stride(std::int64_t pixels, int attempt) {
  return {pixels, sample_size(pixels) * (attempt == 0 ? 8 : (attempt == 1 ? 7 : 6)) / 8};
}

/// What these few pixels tell.
template <class T>
struct RoughScale {
  static constexpr int max_spikes = 16;
  double centre;  ///< their median
  double scale;   ///< as a rule about one standard deviation; 0 if they are all alike
  int finite;
  int spikes;           ///< values that many pixels share
  T spike[max_spikes];  ///< ascending
};

/// The spread of sorted values about their median, ties or not.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION double spread_of(const T* sorted, int n) {
  // Half the distance of two quantiles in standard deviations, if the pixels were Gaussian.
  constexpr double sigmas[] = {0.6745, 1.5341, 2.1539, 2.9};
  constexpr int shifts[] = {2, 4, 6, 30};
  for (int i = 0; i < 4; ++i) {
    const int k = n >> shifts[i];
    // Halves, so that the distance of two huge pixels does not overflow.
    const double half =
        0.5 * static_cast<double>(sorted[n - 1 - k]) - 0.5 * static_cast<double>(sorted[k]);
    if (half > 0) return half / sigmas[i];
  }
  return 0;
}

/// A scale for the bins of the sample that suits images of several peaks: the spread, unless that
/// makes bins too wide for the narrowest peak with three eighths of the pixels, or a tenth of them
/// lies beyond all bins, on one side.
template <class T>
class ScaleOfPeaks {
 public:
  KOKKOS_FUNCTION ScaleOfPeaks(const T* sorted, int n) : m_sorted(sorted), m_n(n) {}

  [[nodiscard]] KOKKOS_FUNCTION double operator()() const {
    const double spread = spread_of(m_sorted, m_n);
    double narrow = spread;
    for (int i = 0; i + of_window <= steps; ++i) {
      const double half = half_of(i * m_n / steps, (i + of_window) * m_n / steps - 1);
      // That of a Gaussian's middle, in standard deviations.
      narrow = half < 0.4888 * narrow ? half / 0.4888 : narrow;
    }
    const bool is_narrow = narrow > 0 && 16 * narrow < spread;
    if (!is_narrow && !(far(m_n * 3 / 32) > 500 * spread)) return spread;
    const double scale = is_narrow ? narrow : spread;
    // All but a few are within 900 units of the centre.
    const double least = far(m_n / 32) / 450;
    return scale > least ? scale : least;
  }

 private:
  static constexpr int steps = 16, of_window = 6;

  /// Of the distance of two; see `spread_of`.
  [[nodiscard]] KOKKOS_FUNCTION double half_of(int from, int to) const {
    if (to < from) return 0;
    return 0.5 * static_cast<double>(m_sorted[to]) - 0.5 * static_cast<double>(m_sorted[from]);
  }
  /// Half of how far from the centre all but k are, on the side where that is more.
  [[nodiscard]] KOKKOS_FUNCTION double far(int k) const {
    const double below = half_of(k, m_n / 2), above = half_of(m_n / 2, m_n - 1 - k);
    return below > above ? below : above;
  }

  const T* m_sorted;
  int m_n;
};

/// Bins of a histogram over (x - centre) / scale: 1/1024 wide up to 1, 1/64 up to 16, then 32 an
/// octave up to 1024, then one; on both sides.
struct SampleBins {
  static constexpr int fine = 1024;
  static constexpr int coarse = fine + 15 * 64;
  static constexpr int side = coarse + 6 * 32 + 1;
  static constexpr int count = 2 * side;
  static_assert(NearBins{0, 0, fine, side}.beyond() == coarse);

  double centre = 0;
  double per_unit = 0;  ///< 1 / scale

  [[nodiscard]] KOKKOS_FUNCTION static int of(double t) {
    const int near = near_of(t);
    return near != none ? near : on_side_of(t, far_bin(Kokkos::fabs(t)));
  }
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION int operator()(T x) const {
    return of(units_of(x));
  }
  static constexpr int none = -1;
  /// The same up to 16 units from the centre; farther off, and of NaN: none.
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION int near_bin(T x) const {
    return near_of(units_of(x));
  }

  /// For many pixels at once, on a host.
  [[nodiscard]] NearBins near() const { return {centre, per_unit, fine, side}; }
  [[nodiscard]] KOKKOS_FUNCTION static bool is_near(int bin) {
    return bin > side - 1 - coarse && bin < side + coarse;
  }

  /// Distance at which bin `i` of a side begins; 0 <= i <= side.
  [[nodiscard]] KOKKOS_FUNCTION static double begin_of(int i) {
    if (i <= fine) return static_cast<double>(i) / fine;
    if (i <= coarse) return 1 + static_cast<double>(i - fine) / 64;
    const int k = i - coarse;
    return static_cast<double>(16 << (k / 32)) * (1 + static_cast<double>(k % 32) / 32);
  }
  /// t at which a bin begins.
  [[nodiscard]] KOKKOS_FUNCTION static double low_of(int bin) {
    return bin >= side ? begin_of(bin - side) : -begin_of(side - bin);
  }
  [[nodiscard]] KOKKOS_FUNCTION static double high_of(int bin) { return low_of(bin + 1); }
  /// The middle of a bin in units of 1/2048: an integer, so that sums over the sample are exact.
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t middle_of(int bin) {
    const int i = bin >= side ? bin - side : side - 1 - bin;
    const std::int32_t middle = middle_of_distance(i);
    return bin >= side ? middle : -middle;
  }

 private:
  template <class T>
  [[nodiscard]] KOKKOS_FUNCTION double units_of(T x) const {
    return (static_cast<double>(x) - centre) * per_unit;
  }
  /// Without branches: the lanes of a warp have pixels of all kinds.
  [[nodiscard]] KOKKOS_FUNCTION static int near_of(double t) {
    const double distance = Kokkos::fabs(t);
    const bool is_near = distance < 16;
    const double a = is_near ? distance : 0.0;
    const bool is_fine = a < 1;
    const int i = (is_fine ? 0 : fine) + static_cast<int>(is_fine ? a * fine : (a - 1) * 64);
    return is_near ? on_side_of(t, i) : none;
  }
  [[nodiscard]] KOKKOS_FUNCTION static int far_bin(double distance) {
    if (!(distance < 1024)) return side - 1;
    const auto bits = Kokkos::bit_cast<std::uint64_t>(distance);
    return coarse + (static_cast<int>(bits >> 52) - 1027) * 32 + static_cast<int>(bits >> 47 & 31);
  }
  /// Bin `i` of the side where t is.
  [[nodiscard]] KOKKOS_FUNCTION static int on_side_of(double t, int i) {
    return t < 0 ? side - 1 - i : side + i;
  }
  /// That of bin `i` of a side.
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t middle_of_distance(int i) {
    if (i < fine) return 2 * i + 1;
    if (i < coarse) return 2048 + 32 * (i - fine) + 16;
    const int k = i - coarse;
    return (2048 + 64 * (k % 32) + 32) << (k / 32 + 4);
  }
};

/// Numbers of sample pixels, and sums over `SampleBins::middle_of`, in all bins before a bin.
struct SampleSums {
  /// Where the sums before a bin are kept: on a device threads that have `stretch` bins each write
  /// beside each other.
  static constexpr int threads = 512;
  static constexpr int stretch = (SampleBins::count + threads) / threads;
  static constexpr int size = stretch * threads;
  [[nodiscard]] KOKKOS_FUNCTION static int place_of(int bin) {
    KOKKOS_IF_ON_DEVICE((return bin % stretch * threads + bin / stretch;))
    KOKKOS_IF_ON_HOST((return bin;))
  }

  const std::uint32_t* count;  ///< in the order of the bins
  const std::int64_t* sum;
  const std::int64_t* squares;

  /// Of bins [first, last): what lies before the one and the other, read but not yet waited for.
  struct Between {
    std::int64_t first, last;
    [[nodiscard]] KOKKOS_FUNCTION double value() const { return static_cast<double>(last - first); }
  };
  [[nodiscard]] KOKKOS_FUNCTION Between sum_between(int first, int last) const {
    return {sum[place_of(first)], sum[place_of(last)]};
  }
  [[nodiscard]] KOKKOS_FUNCTION Between squares_between(int first, int last) const {
    return {squares[place_of(first)], squares[place_of(last)]};
  }
};

/// Rows of one band, and the pixels of the image before them.
template <class T>
struct SampledRows {
  Rows<T> rows;
  std::int64_t first_pixel = 0;

  [[nodiscard]] KOKKOS_FUNCTION const T* where(std::int64_t pixel) const {
    const std::int64_t i = pixel - first_pixel;
    return rows.data + (rows.pitch == rows.nx ? i : (i / rows.nx) * rows.pitch + i % rows.nx);
  }
  [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t pixel) const { return *where(pixel); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past() const {
    return first_pixel + rows.ny * rows.nx;
  }
};

/// The first and one past the last sample of a band.
struct SampleRange {
  std::int64_t begin, end;
  template <class T>
  KOKKOS_FUNCTION SampleRange(const SampledRows<T>& band, std::int64_t stride, std::int64_t count)
      : begin((band.first_pixel + stride - 1) / stride), end((band.past() + stride - 1) / stride) {
    if (end > count) end = count;
  }
};

/// A bit for each of the few hundred pixels.
struct RoughFlags {
  static constexpr int words = rough_size / 32;
  static_assert(rough_size % 32 == 0);
  std::uint32_t word[words] = {};
  std::uint32_t any = 0;  ///< not 0 if one is set

  KOKKOS_FUNCTION void set(int i) {
    Kokkos::atomic_or(&word[i / 32], std::uint32_t{1} << (i % 32));
    Kokkos::atomic_or(&any, 1U);
  }
};

/// Quartiles and often repeated values of sorted finite pixels. The flags are clear before.
/// `OfPeaks`: see ScaleOfPeaks. Code that is not run makes it slower, too.
template <bool OfPeaks, class T, class Crew>
KOKKOS_FUNCTION void describe_sorted(const Crew& crew, const T* sorted, int n, RoughFlags& flags,
                                     RoughScale<T>& rough) {
  // A value that every 64th pixel has is met too often to be stored pixel by pixel.
  constexpr int often = rough_size / 64;
  for (int i = crew.rank(); i < n; i += crew.size()) {
    if (i + often <= n && (i == 0 || sorted[i - 1] < sorted[i]) &&
        sorted[i + often - 1] == sorted[i])
      flags.set(i);
  }
  crew.barrier();
  if (crew.rank() == 0) {
    rough.finite = n;
    rough.spikes = 0;
    rough.centre = n > 0 ? static_cast<double>(sorted[n / 2]) + 0.0 : 0.0;
    rough.scale = 0;
    if (n > 0) {
      if constexpr (OfPeaks) {
        rough.scale = ScaleOfPeaks<T>(sorted, n)();
      } else {
        rough.scale = spread_of(sorted, n);
      }
    }
    if (flags.any != 0) {
      for (int w = 0; w < RoughFlags::words; ++w) {
        for (std::uint32_t rest = flags.word[w]; rest != 0; rest &= rest - 1) {
          if (rough.spikes < RoughScale<T>::max_spikes)
            rough.spike[rough.spikes++] = sorted[32 * w + lowest_one(rest)];
        }
      }
    }
  }
}

}  // namespace kastor::detail

#endif
