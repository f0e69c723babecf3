// SPDX-License-Identifier: Apache-2.0

// The kernels of docs/lesson.md: those of the library in their shortest form, compared with it.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/kastor.hpp>
#include <string>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"

namespace guide_lesson {

namespace ts = testing_support;

using Exec = Kokkos::DefaultExecutionSpace;
template <class T>
using List = Kokkos::View<T*, Exec>;

// example-begin lesson-bytes
struct ReverseBytes {
  List<std::uint32_t> words;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t w = words(i);
    words(i) = w << 24 | (w & 0xff00U) << 8 | (w >> 8 & 0xff00U) | w >> 24;
  }
};
// example-end lesson-bytes

// example-begin lesson-along-x
struct SumAlongX {
  List<float> pixels, taps, sums;
  std::int64_t nx;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t x = i % nx, n = static_cast<std::int64_t>(taps.extent(0));
    float sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t from = x + n / 2 - k;
      if (from >= 0 && from < nx) sum += taps(k) * pixels(i - x + from);
    }
    sums(i) = sum;
  }
};
// example-end lesson-along-x

// example-begin lesson-keys
struct CountKeys {
  List<float> pixels;
  List<std::uint32_t> counts;  // 65536 of them

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto bits = Kokkos::bit_cast<std::uint32_t>(pixels(i));
    const std::uint32_t key = bits >> 31 != 0 ? ~bits : bits | 0x80000000U;
    Kokkos::atomic_inc(&counts(key >> 16));
  }
};
// example-end lesson-keys

// example-begin lesson-grid
struct AddOnGrid {
  List<float> pixels;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += static_cast<std::int64_t>(Kokkos::floor(double{pixels(i)} * 0x1p44 + 0.5));
  }
};
// example-end lesson-grid

// example-begin lesson-words
struct FillWord {
  List<float> pixels;
  double level;
  List<std::uint64_t> words;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    std::uint64_t word = 0;
    for (int k = 0; k < 64; ++k) word |= std::uint64_t{pixels(64 * w + k) > level} << k;
    words(w) = word;
  }
};
// example-end lesson-words

// example-begin lesson-unite
struct Forest {
  List<std::uint32_t> parent;

  KOKKOS_FUNCTION std::uint32_t find(std::uint32_t i) const {
    for (;;) {
      const std::uint32_t up = Kokkos::atomic_load(&parent(i));
      if (up == i) return i;
      i = up;
    }
  }
  KOKKOS_FUNCTION void unite(std::uint32_t a, std::uint32_t b) const {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a < b) Kokkos::kokkos_swap(a, b);
      // The larger root points to the smaller one, if it still is a root. Else look again.
      if (Kokkos::atomic_compare_exchange(&parent(a), a, b) == a) return;
    }
  }
};
// example-end lesson-unite

/// Unites a foreground pixel with those to its left and below it in memory.
struct UnitePixel {
  List<float> pixels;
  double level;
  std::int64_t nx;
  Forest forest;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!(pixels(i) > level)) return;
    const auto a = static_cast<std::uint32_t>(i), row = static_cast<std::uint32_t>(nx);
    if (i % nx != 0 && pixels(i - 1) > level) forest.unite(a, a - 1);
    if (i >= nx && pixels(i - nx) > level) forest.unite(a, a - row);
  }
};

// example-begin lesson-roots
struct NumberRoots {
  List<float> pixels;
  double level;
  List<std::uint32_t> parent;
  List<std::int32_t> number;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int32_t& before, bool is_final) const {
    if (!(pixels(i) > level) || parent(i) != i) return;
    ++before;
    if (is_final) number(i) = before;
  }
};
// example-end lesson-roots

/// Each foreground pixel takes the number of its root.
struct WriteNumber {
  List<float> pixels;
  double level;
  Forest forest;
  List<std::int32_t> number;
  List<std::int32_t> labels;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    labels(i) = pixels(i) > level ? number(forest.find(static_cast<std::uint32_t>(i))) : 0;
  }
};

// example-begin lesson-sources
struct AddPixel {
  List<float> pixels;
  List<std::int32_t> labels;
  List<std::int64_t> n_pix, flux;  // flux in steps of 2^-44

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (labels(i) == 0) return;
    const auto steps = static_cast<std::int64_t>(Kokkos::floor(double{pixels(i)} * 0x1p44 + 0.5));
    Kokkos::atomic_inc(&n_pix(labels(i) - 1));
    Kokkos::atomic_add(&flux(labels(i) - 1), steps);
  }
};
// example-end lesson-sources

template <class Kernel>
void for_each(std::int64_t n, const Kernel& kernel) {
  Kokkos::parallel_for("guide::for_each",
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n), kernel);
}

template <class T>
std::vector<T> on_host(const List<T>& list) {
  return ts::to_host_list(list, static_cast<std::int64_t>(list.extent(0)));
}

template <class T>
List<T> on_device(const std::vector<T>& values) {
  const List<T> list("guide::list", values.size());
  const auto host = Kokkos::create_mirror_view(list);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  Kokkos::deep_copy(list, host);
  return list;
}

/// Rows of whole words of a mask, so that FillWord needs no end of a row.
class GuideLesson : public ::testing::Test {
 protected:
  static constexpr std::int64_t ny = 50, nx = 128, n = ny * nx;
  static constexpr double level = 0.75;
  ts::HostImage<float> host = ts::make_image<float>(ts::Pixels::uniform, ny, nx, 5);
  kastor::Image<float, Exec> image = ts::to_device<Exec>(host);
  List<float> pixels = on_device(host.values);
};

TEST_F(GuideLesson, BytesAreReversed) {
  const auto words = on_device<std::uint32_t>({0x01020304U, 0xfffefdfcU});
  for_each(2, ReverseBytes{words});
  EXPECT_EQ(on_host(words), (std::vector<std::uint32_t>{0x04030201U, 0xfcfdfeffU}));
}

TEST_F(GuideLesson, SumsAlongRowsAreThoseOfTheLibrary) {
  const List<float> sums("guide::sums", n);
  kastor::ConvolutionKernel kernel;
  kernel.ny = 1;
  kernel.nx = 5;
  kernel.taps = {0.5, 1, 2, 4, 0.25};
  for_each(n, SumAlongX{pixels, on_device<float>({0.5F, 1, 2, 4, 0.25F}), sums, nx});
  kastor::ConvolveParams params;
  params.mode = kastor::ConvolveMode::same;
  const auto found = ts::to_host_grid(kastor::convolve(Exec{}, image, kernel, params)).values;
  const auto mine = on_host(sums);
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(mine[i], found[i], 1e-5F) << i;
}

TEST_F(GuideLesson, TheBinOfTheMedianHoldsTheMedian) {
  const List<std::uint32_t> counts("guide::counts", 65536);
  for_each(n, CountKeys{pixels, counts});
  const auto found = on_host(counts);
  std::int64_t before = 0;
  std::size_t bin = 0;
  while (before + found[bin] <= (n - 1) / 2) before += found[bin++];
  const auto median =
      static_cast<float>(kastor::sigma_clip(Exec{}, image).all.median);  // of positive numbers
  const auto key = Kokkos::bit_cast<std::uint32_t>(median) | 0x80000000U;
  EXPECT_EQ(bin, key >> 16);
}

TEST_F(GuideLesson, TheSumOnTheGridIsExact) {
  std::int64_t sum = 0;
  Kokkos::parallel_reduce("guide::sum",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
                          AddOnGrid{pixels}, sum);
  const double mean = static_cast<double>(sum) * 0x1p-44 / static_cast<double>(n);
  EXPECT_DOUBLE_EQ(mean, kastor::sigma_clip(Exec{}, image).all.mean);
}

TEST_F(GuideLesson, WordsAreThoseOfTheMask) {
  const List<std::uint64_t> words("guide::words", n / 64);
  for_each(n / 64, FillWord{pixels, level, words});
  EXPECT_EQ(on_host(words), ts::pack_naive(ts::threshold_naive(host, level)).values);
}

TEST_F(GuideLesson, LabelsAndFluxesAreThoseOfTheLibrary) {
  std::vector<std::uint32_t> alone(n);
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i] = static_cast<std::uint32_t>(i);
  const Forest forest{on_device(alone)};
  for_each(n, UnitePixel{pixels, level, nx, forest});
  const List<std::int32_t> number("guide::number", n), labels("guide::labels", n);
  std::int32_t components = 0;
  Kokkos::parallel_scan("guide::number_roots",
                        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, n),
                        NumberRoots{pixels, level, forest.parent, number}, components);
  for_each(n, WriteNumber{pixels, level, forest, number, labels});

  const auto runs = kastor::label(Exec{}, kastor::threshold(Exec{}, image, level));
  EXPECT_EQ(components, runs.components);
  const auto wanted = ts::to_host_labels<std::int32_t>(runs).values;
  const auto found = on_host(labels);
  ASSERT_EQ(std::vector<std::int64_t>(found.begin(), found.end()), wanted);

  const auto sources = kastor::measure(Exec{}, image, runs);
  const List<std::int64_t> n_pix("guide::n_pix", sources.size()),
      flux("guide::flux", sources.size());
  for_each(n, AddPixel{pixels, labels, n_pix, flux});
  const auto counts = on_host(n_pix), steps = on_host(flux);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    EXPECT_EQ(counts[i], sources[i].n_pix);
    EXPECT_NEAR(static_cast<double>(steps[i]) * 0x1p-44, sources[i].flux_sum, 1e-12);
  }
}

}  // namespace guide_lesson
