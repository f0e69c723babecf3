// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_SAMPLE_HPP
#define KASTOR_SIGMA_CLIP_SAMPLE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/atomics.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/pack.hpp"
#include "sigma_clip/rough_scale.hpp"

/// The sample that predicts a clip: pixels at a fixed stride, counted into a histogram, after a few
/// hundred of them have shown where the pixels lie.
namespace kastor::detail {

/// Pixels 0, stride, 2 stride, ... of an image in raster order.
struct Stride {
  std::int64_t stride = 1;
  std::int64_t count = 0;

  Stride() = default;
  /// About `wanted` samples. The stride is odd, so that it does not follow the columns of an image
  /// whose width is a power of two.
  Stride(std::int64_t pixels, std::int64_t wanted)
      : stride(std::max<std::int64_t>(1, pixels / wanted) | 1),
        count((pixels + stride - 1) / stride) {}
};

/// Chosen such that sampling costs about as much as the pixels gathered because of its uncertainty:
/// the power 2/3 of Floyd and Rivest (CACM 18 (1975) 165).
[[nodiscard]] inline std::int64_t sample_size(std::int64_t pixels) {
  auto root = static_cast<std::int64_t>(std::cbrt(static_cast<double>(pixels)));
  while (root * root * root > pixels) --root;
  while ((root + 1) * (root + 1) * (root + 1) <= pixels) ++root;
  return std::clamp<std::int64_t>(root * root * 5 / 2, 4096, std::int64_t{1} << 22);
}

/// The strides of the first attempt at a clip (0) and of later ones. Later attempts look at other
/// pixels: in a periodic image, the samples of the first may all be at the same phase.
[[nodiscard]] inline Stride rough_stride(std::int64_t pixels, int attempt) {
  return {pixels, attempt == 0 ? rough_size : (attempt == 1 ? 243 : 229)};
}
[[nodiscard]] inline Stride sample_stride(std::int64_t pixels, int attempt) {
  return {pixels, sample_size(pixels) * (attempt == 0 ? 8 : (attempt == 1 ? 7 : 6)) / 8};
}

/// Rows of one band, and the number of pixels of the image before them.
template <class T>
struct SampledRows {
  Rows<T> rows;
  std::int64_t first_pixel = 0;

  [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t pixel) const {
    const std::int64_t i = pixel - first_pixel;
    return rows.data[rows.pitch == rows.nx ? i : (i / rows.nx) * rows.pitch + i % rows.nx];
  }
  /// Index of the first sample in the band, and of the first one after it.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first_sample(std::int64_t stride) const {
    return (first_pixel + stride - 1) / stride;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past_samples(const Stride& stride) const {
    const std::int64_t past = (first_pixel + rows.ny * rows.nx + stride.stride - 1) / stride.stride;
    return past < stride.count ? past : stride.count;
  }
};

/// Reads a band's share of the few hundred pixels; the kernel of the last band describes all of
/// them. One group.
template <class Exec, class T>
struct FindRoughScale {
  static constexpr int threads = rough_size;
  static constexpr int scratch_bytes = 2 * rough_size * sizeof(T) + 32;
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  SampledRows<T> band;
  Stride stride;
  bool last_band, of_peaks;
  T* values;  ///< (rough_size)
  RoughScale<T>* rough;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t past = band.past_samples(stride);
    for (std::int64_t i = band.first_sample(stride.stride) + group.rank();
         i < past && i < rough_size; i += group.size())
      values[i] = band.at(i * stride.stride);
    group.barrier();
    if (last_band) describe(group);
  }

 private:
  /// Sorts by counting how many pixels come before each one; non-finite pixels come last.
  KOKKOS_FUNCTION void describe(const core::Group<Exec>& group) const {
    T* const pixels = group.template scratch<T>(rough_size);
    T* const sorted = group.template scratch<T>(rough_size);
    int finite = 0;
    group.for_each(rough_size, [&](int i) {
      const T x = i < stride.count ? values[i] : infinity;
      finite += core::is_finite(x) ? 1 : 0;
      pixels[i] = core::is_finite(x) ? x : infinity;
    });
    finite = group.sum(finite);
    group.barrier();
    group.for_each(rough_size, [&](int i) {
      const T x = pixels[i];
      int before = 0;
      KASTOR_UNROLL_BY_8
      for (int k = 0; k < rough_size; ++k)
        before += ((pixels[k] < x) | ((pixels[k] == x) & (k < i))) ? 1 : 0;
      sorted[before] = x;
    });
    group.barrier();
    int repeats = 0;
    group.for_each(finite, [&](int i) { repeats += begins_repeated(sorted, finite, i) ? 1 : 0; });
    repeats = group.sum(repeats);
    if (group.rank() == 0) *rough = describe_sorted(sorted, finite, of_peaks, repeats > 0);
  }
};

/// Counts a band's share of the sample into the histogram. Each thread takes a pack of samples at a
/// time: the loads are in flight together, and the bins are computed in a plain loop.
template <class Exec, class T>
struct CountSample {
  static constexpr int threads = 256;
  static constexpr int width = core::pack_width_v<Exec>;
  static constexpr int scratch_bytes = SampleBins::count * sizeof(std::uint32_t);
  static constexpr std::int64_t samples_of_group = 4096;

  SampledRows<T> band;
  Stride stride;
  const RoughScale<T>* rough;
  std::uint32_t* histogram;  ///< (SampleBins::count)

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const mine = group.template scratch<std::uint32_t>(SampleBins::count);
    group.for_each(SampleBins::count, [&](int b) { mine[b] = 0; });
    group.barrier();
    const SampleBins bins = rough->bins();
    const std::int64_t first = band.first_sample(stride.stride);
    const std::int64_t past = band.past_samples(stride);
    const std::int64_t step = group.count() * group.size() * width;
    for (std::int64_t i = first + (group.index() * group.size() + group.rank()) * width; i < past;
         i += step)
      count_pack(group, bins, i, past, mine);
    group.barrier();
    group.for_each(SampleBins::count, [&](int b) {
      if (mine[b] != 0) core::atomic_add(&histogram[b], mine[b]);
    });
  }

 private:
  KOKKOS_FUNCTION void count_pack(const core::Group<Exec>& group, const SampleBins& bins,
                                  std::int64_t i, std::int64_t past, std::uint32_t* mine) const {
    T pixel[width];
    std::int32_t bin[width];
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j) {
      pixel[j] =
          i + j < past ? band.at((i + j) * stride.stride) : Kokkos::Experimental::quiet_NaN_v<T>;
    }
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j)
      bin[j] = SampleBins::near_bin_of(bins.units_of(static_cast<double>(pixel[j])));
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j) {
      if (!SampleBins::is_near(bin[j])) {
        if (!core::is_finite(pixel[j])) continue;
        bin[j] = SampleBins::of(bins.units_of(static_cast<double>(pixel[j])));
      }
      group.fetch_add(&mine[bin[j]], 1U);
    }
  }
};

}  // namespace kastor::detail

#endif
