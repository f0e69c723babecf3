// SPDX-License-Identifier: Apache-2.0

// A measurer as part of a larger plan: labels that are still being made, lists that grow, many
// bands, and what a call that failed leaves behind.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/measure.hpp>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "failing_kernel.hpp"
#include "generators.hpp"
#include "measure_reference.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

template <class T>
ts::HostImage<T> noise(std::int64_t ny, std::int64_t nx) {
  return ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 8);
}

template <class T>
kastor::Catalogue wanted(const ts::HostImage<T>& image, const ts::HostMask& mask,
                         std::int64_t min_pixels = 1) {
  const auto labels =
      ts::drop_small_naive(ts::label_naive(mask, kastor::Connectivity::four), min_pixels);
  return ts::rows_by_definition(image, ts::runs_naive(mask, labels));
}

/// A labeller and a measurer whose kernels are enqueued one after the other.
template <class Exec, class T>
struct Both {
  Exec space;
  kastor::Labeller<Exec> labeller;
  kastor::Measurer<Exec, T> measurer;

  explicit Both(std::int64_t min_pixels = 1)
      : labeller(space, {kastor::Connectivity::four, min_pixels}), measurer(space) {}
  void enqueue(const kastor::Image<T, Exec>& image, const kastor::BitMask<Exec>& mask) {
    const kastor::ConstImage<T, Exec> band = image;
    labeller.enqueue(mask);
    measurer.enqueue({&band, 1}, labeller.labels(), labeller.counts());
    space.fence("test::both");
  }
  [[nodiscard]] bool finish() {
    return labeller.finish() && measurer.finish(labeller.labels().components);
  }
  [[nodiscard]] kastor::Catalogue rows() const {
    return {measurer.rows().begin(), measurer.rows().end()};
  }
};

template <class T>
class MeasurePlan : public ::testing::Test {};
TYPED_TEST_SUITE(MeasurePlan, ts::ExecsAndReals, ts::CaseName);

/// More runs and more components than there is room for at first.
TYPED_TEST(MeasurePlan, GrowsWhereListsAreTooShort) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto image = noise<T>(150, 401);
  const auto mask =
      ts::mask_where(150, 401, [](std::int64_t y, std::int64_t x) { return (x + y) % 2 == 0; });
  const auto on_device = ts::to_device<Exec>(image);
  const auto device_mask = ts::to_device_mask<Exec>(mask);
  const auto want = wanted(image, mask);
  ASSERT_GT(want.size(), 4096U);

  Both<Exec, T> both;
  both.enqueue(on_device, device_mask);
  ASSERT_FALSE(both.labeller.finish()) << "room for 4096 runs at first";
  both.enqueue(on_device, device_mask);
  ASSERT_TRUE(both.labeller.finish());
  ASSERT_FALSE(both.measurer.finish(both.labeller.labels().components)) << "and for 4096 rows";
  both.enqueue(on_device, device_mask);
  ASSERT_TRUE(both.finish());
  EXPECT_TRUE(ts::same_bits(both.rows(), want));

  // And a smaller image with the same objects, of which few components stay.
  const auto small = noise<T>(60, 70);
  const auto some = ts::random_mask(60, 70, 0.4, 4);
  both.enqueue(ts::to_device<Exec>(small), ts::to_device_mask<Exec>(some));
  ASSERT_TRUE(both.finish());
  EXPECT_TRUE(ts::same_bits(both.rows(), wanted(small, some)));
}

TYPED_TEST(MeasurePlan, HasNoRowsOfDroppedComponents) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const auto image = noise<T>(90, 131);
  const auto on_device = ts::to_device<Exec>(image);
  for (const std::int64_t min_pixels : {2, 6, 1000}) {
    const auto mask = ts::random_mask(90, 131, 0.45, 4);
    Both<Exec, T> both(min_pixels);
    both.enqueue(on_device, ts::to_device_mask<Exec>(mask));
    ASSERT_TRUE(both.finish());
    EXPECT_TRUE(ts::same_bits(both.rows(), wanted(image, mask, min_pixels)));
  }
}

/// Bands of any height, of which some have no rows; more of them than a kernel takes at once.
TYPED_TEST(MeasurePlan, TakesManyBandsAndEmptyOnes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto image = noise<T>(135, 70);
  const auto mask = ts::random_mask(135, 70, 0.62, 4);
  const auto want = wanted(image, mask);
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(mask));
  const auto cut_out = ts::to_device_cut_out<Exec>(image);
  kastor::Measurer<Exec, T> measurer(space);
  for (const std::int64_t largest : {0, 1, 3, 20}) {
    ts::Random random(5);
    std::vector<kastor::ConstImage<T, Exec>> bands;
    for (std::int64_t y = 0; y < image.ny;) {
      const std::int64_t rows =
          largest == 0 ? 1 : std::min(random.below(largest + 1), image.ny - y);
      bands.emplace_back(Kokkos::subview(cut_out.image, std::make_pair(y, y + rows), Kokkos::ALL));
      y += rows;
    }
    EXPECT_TRUE(ts::same_bits(kastor::to_host<Exec>(space, measurer(bands, labels)), want))
        << bands.size() << " bands";
  }
}

TYPED_TEST(MeasurePlan, HasNoRowsWithoutPixels) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  for (const auto& [ny, nx] : {std::pair{0, 0}, std::pair{0, 70}, std::pair{70, 0}}) {
    Both<Exec, T> both;
    const auto on_device = ts::new_image<Exec, T>("test::image", ny, nx);
    const auto mask = kastor::make_bit_mask(both.space, ny, nx);
    both.enqueue(on_device, mask);
    ASSERT_TRUE(both.finish());
    EXPECT_TRUE(both.rows().empty());
    EXPECT_EQ(both.measurer(on_device, both.labeller(mask)).extent(0), 0U);
  }
}

/// Pixels at both ends of what a number holds, in one component or in many: nothing overflows but
/// the sum itself.
TYPED_TEST(MeasurePlan, SumsPixelsAtTheEndsOfTheirRange) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Limits = std::numeric_limits<T>;
  const Exec space;
  const T ends[] = {Limits::max(), Limits::lowest(), Limits::min(), Limits::denorm_min(), T(0),
                    -T(0)};
  for (const std::int64_t kinds : {1, 2, 3, 4, 6}) {
    for (const double density : {0.4, 1.1}) {
      ts::Random random(9);
      ts::HostImage<T> image(40, 100);
      for (T& pixel : image.values)
        pixel = ends[random.below(kinds)] * static_cast<T>(random.uniform());
      const auto mask = ts::random_mask(40, 100, density, 3);
      const auto labels = kastor::label(space, ts::to_device_mask<Exec>(mask));
      const auto got = kastor::measure(space, ts::to_device<Exec>(image), labels);
      EXPECT_TRUE(ts::same_bits(got, wanted(image, mask))) << kinds << " kinds, " << density;
    }
  }
}

/// The sums of a call that failed must not become part of the next one's.
TYPED_TEST(MeasurePlan, IsNotSpoiltByACallThatFailed) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec space;
  const auto image = noise<T>(50, 90);
  const auto on_device = ts::to_device<Exec>(image);
  const auto mask = ts::random_mask(50, 90, 0.5, 6);
  const auto labels = kastor::label(space, ts::to_device_mask<Exec>(mask));
  kastor::Measurer<Exec, T> measurer(space);
  {
    const ts::FailingKernel failing("kastor::measure::make_rows");
    EXPECT_THROW((void)measurer(on_device, labels), std::runtime_error);
  }
  space.fence("test::failed");
  EXPECT_TRUE(ts::same_bits(kastor::to_host<Exec>(space, measurer(on_device, labels)),
                            wanted(image, mask)));
}

}  // namespace
