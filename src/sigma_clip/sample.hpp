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

/// The sample that predicts a clip: pixels in fixed places, counted into a histogram, after a few
/// hundred of them have shown where the pixels lie.
namespace kastor::detail {

/// The places of a sample, in raster order: runs of 2^run_bits neighbouring pixels, `stride` pixels
/// apart.
struct SamplePlaces {
  std::int64_t stride = 1;
  int run_bits = 0;
  std::int64_t count = 0;

  SamplePlaces() = default;
  /// About `wanted` samples. The stride is odd, so that it does not follow the columns of an image
  /// whose width is a power of two.
  SamplePlaces(std::int64_t pixels, std::int64_t wanted, int bits = 0)
      : stride(std::max<std::int64_t>(1, pixels / std::max<std::int64_t>(1, wanted >> bits)) | 1),
        run_bits(bits),
        count(before(pixels)) {}

  /// The pixel of sample i.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixel(std::int64_t i) const {
    return (i >> run_bits) * stride + (i & ((std::int64_t{1} << run_bits) - 1));
  }
  /// How many samples lie before a pixel.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t before(std::int64_t pixel) const {
    const std::int64_t runs = pixel / stride, rest = pixel % stride;
    const std::int64_t run = std::int64_t{1} << run_bits;
    return (runs << run_bits) + (rest < run ? rest : run);
  }
};

/// From this many pixels on, samples are runs of neighbours. A file is then read in few places; a
/// pixel here and there would make the disk read all of it.
inline constexpr std::int64_t fewest_for_runs = std::int64_t{1} << 30;

/// Chosen such that sampling costs about as much as the pixels gathered because of its uncertainty:
/// the power 2/3 of Floyd and Rivest (CACM 18 (1975) 165).
[[nodiscard]] inline std::int64_t sample_size(std::int64_t pixels) {
  if (pixels >= fewest_for_runs) return std::int64_t{1} << 23;
  auto root = static_cast<std::int64_t>(std::cbrt(static_cast<double>(pixels)));
  while (root * root * root > pixels) --root;
  while ((root + 1) * (root + 1) * (root + 1) <= pixels) ++root;
  return std::clamp<std::int64_t>(root * root * 5 / 2, 4096, std::int64_t{1} << 22);
}

/// Factor on the margins of a prediction. Neighbouring pixels resemble each other: the error of a
/// rank among runs of 1024 pixels is 2.4 to 3.7 times that among single pixels, if the beam is 5 to
/// 10 pixels wide.
[[nodiscard]] inline double sample_widening(std::int64_t pixels) {
  return pixels >= fewest_for_runs ? 4 : 1;
}

/// The places of the first attempt at a clip (0) and of later ones. Later attempts look at other
/// pixels: in a periodic image, the samples of the first may all be at the same phase.
[[nodiscard]] inline SamplePlaces rough_places(std::int64_t pixels, int attempt) {
  return {pixels, attempt == 0 ? rough_size : (attempt == 1 ? 243 : 229)};
}
[[nodiscard]] inline SamplePlaces sample_places(std::int64_t pixels, int attempt) {
  const std::int64_t wanted = sample_size(pixels) * (attempt == 0 ? 8 : (attempt == 1 ? 7 : 6)) / 8;
  return {pixels, wanted, pixels >= fewest_for_runs ? 10 : 0};
}

/// Samples of the image: some of its rows, or a list of the samples themselves.
template <class T>
struct SampledRows {
  Rows<T> rows;
  /// Number of pixels of the image before these rows; of a list, number of samples before it.
  std::int64_t before = 0;
  bool is_list = false;  ///< the rows are one, of neighbouring samples

  /// Sample i.
  [[nodiscard]] KOKKOS_FUNCTION T at(const SamplePlaces& places, std::int64_t i) const {
    const std::int64_t k = (is_list ? i : places.pixel(i)) - before;
    return rows.data[rows.pitch == rows.nx ? k : (k / rows.nx) * rows.pitch + k % rows.nx];
  }
  /// The first sample here, and the first one after.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first(const SamplePlaces& places) const {
    return is_list ? before : places.before(before);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past(const SamplePlaces& places) const {
    return is_list ? before + rows.nx : places.before(before + rows.ny * rows.nx);
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
  SamplePlaces places;
  bool last_band, of_peaks;
  T* values;  ///< (rough_size)
  RoughScale<T>* rough;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t past = band.past(places);
    for (std::int64_t i = band.first(places) + group.rank(); i < past && i < rough_size;
         i += group.size())
      values[i] = band.at(places, i);
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
      const T x = i < places.count ? values[i] : infinity;
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
  SamplePlaces places;
  const RoughScale<T>* rough;
  std::uint32_t* histogram;  ///< (SampleBins::count)

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const mine = group.template scratch<std::uint32_t>(SampleBins::count);
    group.for_each(SampleBins::count, [&](int b) { mine[b] = 0; });
    group.barrier();
    const SampleBins bins = rough->bins();
    const std::int64_t first = band.first(places);
    const std::int64_t past = band.past(places);
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
      pixel[j] = i + j < past ? band.at(places, i + j) : Kokkos::Experimental::quiet_NaN_v<T>;
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
