// SPDX-License-Identifier: Apache-2.0

// The parts of a labelling that other kernels build on: two steps instead of one call, the runs
// that begin before each word, and the label of a pixel.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/label.hpp>
#include <utility>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class Exec>
kastor::LabelCounts counts_of(const kastor::Labeller<Exec>& labeller) {
  using Counts = Kokkos::View<const kastor::LabelCounts, typename Exec::memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  kastor::LabelCounts counts;
  Kokkos::deep_copy(Kokkos::View<kastor::LabelCounts, Kokkos::HostSpace>(&counts),
                    Counts(labeller.counts()));
  return counts;
}

ts::HostMask checkerboard(std::int64_t ny, std::int64_t nx) {
  return ts::mask_where(ny, nx, [](std::int64_t y, std::int64_t x) { return (y + x) % 2 == 0; });
}

template <class Exec>
class LabelLists : public ::testing::Test {};
TYPED_TEST_SUITE(LabelLists, ts::Execs, ts::CaseName);

/// A mask with more runs than the first lists have room for: the second attempt finds them all.
TYPED_TEST(LabelLists, GrowWhereTheyAreTooShort) {
  using Exec = TypeParam;
  const Exec space;
  kastor::Labeller<Exec> labeller(space);
  const auto host = checkerboard(150, 401);
  const auto mask = ts::to_device_mask<Exec>(host);
  const std::int64_t runs = ts::count_naive(host);
  labeller.enqueue(mask);
  space.fence("test::first");
  EXPECT_EQ(counts_of(labeller).runs, static_cast<std::uint64_t>(runs));
  EXPECT_EQ(counts_of(labeller).components, 0U) << "kernels must not use the lists";
  ASSERT_FALSE(labeller.finish());
  EXPECT_EQ(labeller.labels().runs, runs);
  EXPECT_EQ(labeller.labels().components, 0);

  labeller.enqueue(mask);
  EXPECT_EQ(labeller.labels().runs, 0) << "until it has finished";
  EXPECT_EQ(labeller.labels().foreground_pixels, 0);
  space.fence("test::second");
  ASSERT_TRUE(labeller.finish());
  EXPECT_EQ(labeller.labels().components, runs);
  EXPECT_EQ(labeller.labels().foreground_pixels, runs);
  const kastor::LabelCounts counts = counts_of(labeller);
  EXPECT_EQ(counts.runs, static_cast<std::uint64_t>(runs));
  EXPECT_EQ(counts.pixels, static_cast<std::uint64_t>(runs));
  EXPECT_EQ(counts.components, static_cast<std::uint32_t>(runs));
  EXPECT_EQ(counts.dropped, 0U);
}

/// One run more than fits, and exactly as many as fit.
TYPED_TEST(LabelLists, MayBeFull) {
  using Exec = TypeParam;
  const Exec space;
  for (const std::int64_t more : {0, 1}) {
    kastor::Labeller<Exec> labeller(space);
    ts::HostMask host(64, 128, 0);  // the first lists have 4096 places
    for (std::int64_t y = 0; y < 64; ++y)
      for (std::int64_t x = 0; x < 128; x += 2) host(y, x) = 1;
    const std::int64_t full = ts::count_naive(host);
    ASSERT_EQ(full, 4096);
    ts::HostMask taller(65, 128, 0);
    std::copy(host.values.begin(), host.values.end(), taller.values.begin());
    if (more == 1) taller(64, 127) = 1;
    labeller.enqueue(ts::to_device_mask<Exec>(taller));
    space.fence("test::full");
    ASSERT_EQ(labeller.finish(), more == 0);
    EXPECT_EQ(labeller.labels().runs, full + more);
    EXPECT_EQ(labeller.labels().components, more == 0 ? 64 : 0);
  }
}

TYPED_TEST(LabelLists, HaveTheRunsBeforeEveryWord) {
  using Exec = TypeParam;
  for (const auto& [ny, nx] : {std::pair{1, 1}, std::pair{5, 64}, std::pair{7, 130},
                               std::pair{40, 515}, std::pair{100, 63}}) {
    for (const double density : {0.0, 0.01, 0.5, 1.1}) {
      const auto host = ts::random_mask(ny, nx, density, 3);
      const auto labels = kastor::label(Exec{}, ts::to_device_mask<Exec>(host));
      std::vector<std::uint32_t> want{0};
      for (std::int64_t y = 0; y < ny; ++y) {
        for (std::int64_t x = 0; x < nx; ++x) {
          const bool starts = host(y, x) != 0 && (x == 0 || host(y, x - 1) == 0);
          if (x % 64 == 0) want.push_back(want.back());
          want.back() += starts ? 1 : 0;
        }
      }
      EXPECT_EQ(ts::to_host_list(labels.first_in_word, static_cast<std::int64_t>(want.size())),
                want)
          << ts::shape_name(ny, nx) << ", density " << density;
    }
  }
}

template <class Exec>
struct ReadLabels {
  kastor::RunLabels<Exec> labels;
  kastor::Image<std::int64_t, Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    image(i / labels.nx, i % labels.nx) = labels.at(i / labels.nx, i % labels.nx);
  }
};

TYPED_TEST(LabelLists, GiveTheLabelOfAnyPixel) {
  using Exec = TypeParam;
  for (const auto& [ny, nx] : {std::pair{3, 200}, std::pair{50, 64}, std::pair{80, 191}}) {
    for (const std::int64_t min_pixels : {1, 4}) {
      const auto host = ts::random_mask(ny, nx, 0.5, 4);
      const auto want =
          ts::drop_small_naive(ts::label_naive(host, kastor::Connectivity::eight), min_pixels);
      kastor::Labeller<Exec> labeller(Exec{}, {kastor::Connectivity::eight, min_pixels});
      const ReadLabels<Exec> read{labeller(ts::to_device_mask<Exec>(host)),
                                  ts::new_image<Exec, std::int64_t>("test::labels", ny, nx)};
      Kokkos::parallel_for("test::read", Kokkos::RangePolicy<Exec>(0, ny * nx), read);
      EXPECT_EQ(ts::to_host_grid(read.image).values, want.image.values);
    }
  }
}

/// Labels in an image inside a larger one, of which nothing else may change.
TYPED_TEST(LabelLists, FillACutOut) {
  using Exec = TypeParam;
  const auto host = ts::random_mask(30, 131, 0.4, 5);
  const auto want = ts::label_naive(host, kastor::Connectivity::four);
  const kastor::Image<std::int32_t, Exec> larger("test::labels", 33, 150);
  Kokkos::deep_copy(larger, -7);
  const auto labels = kastor::label(Exec{}, ts::to_device_mask<Exec>(host));
  kastor::write_labels(Exec{}, labels,
                       Kokkos::subview(larger, std::make_pair(1, 31), std::make_pair(5, 136)));
  Kokkos::fence("test::written");
  const auto got = ts::to_host_grid(larger);
  for (std::int64_t y = 0; y < got.ny; ++y) {
    for (std::int64_t x = 0; x < got.nx; ++x) {
      const bool inside = y >= 1 && y < 31 && x >= 5 && x < 136;
      ASSERT_EQ(got(y, x), inside ? want.image(y - 1, x - 5) : -7) << y << ", " << x;
    }
  }
}

TYPED_TEST(LabelLists, AreEmptyWithoutPixels) {
  using Exec = TypeParam;
  const Exec space;
  for (const auto& [ny, nx] : {std::pair{0, 0}, std::pair{0, 70}, std::pair{70, 0}}) {
    kastor::Labeller<Exec> labeller(space);
    (void)labeller(ts::to_device_mask<Exec>(ts::HostMask(5, 5, 1)));
    const auto& labels = labeller(kastor::make_bit_mask(space, ny, nx));
    EXPECT_EQ(labels.runs, 0);
    EXPECT_EQ(labels.components, 0);
    EXPECT_EQ(labels.foreground_pixels, 0);
    kastor::write_labels(space, labels, ts::new_image<Exec, std::int32_t>("test::labels", ny, nx));
    space.fence("test::written");
  }
}

/// Where the places of pixels nearly fill 31 bits.
TYPED_TEST(LabelLists, GoToTheEndOfTheWidestMask) {
  using Exec = TypeParam;
  constexpr std::int64_t nx = 2147483646;
  const Exec space;
  auto mask = kastor::make_bit_mask(space, 1, nx);
  Kokkos::deep_copy(mask.words, 0);
  const auto set = [&](std::int64_t word, std::uint64_t bits) {
    Kokkos::deep_copy(Kokkos::subview(mask.words, 0, word), bits);
  };
  set(0, 5);
  set(mask.words_per_row() - 1, std::uint64_t{0b11011} << 57);
  const auto labels = kastor::label(space, mask);
  ASSERT_EQ(labels.runs, 4);
  EXPECT_EQ(labels.components, 4);
  EXPECT_EQ(labels.foreground_pixels, 6);
  EXPECT_EQ(ts::to_host_list(labels.begin, 4), (std::vector<std::int32_t>{0, 2, nx - 5, nx - 2}));
  EXPECT_EQ(ts::to_host_list(labels.end, 4), (std::vector<std::int32_t>{1, 3, nx - 3, nx}));
}

}  // namespace
