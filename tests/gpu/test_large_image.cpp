// SPDX-License-Identifier: Apache-2.0
// An image of more than 2^31 pixels, made on the backend itself, whose sources are known by
// construction.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/source_finder.hpp>

#include "compare.hpp"
#include "core/random.hpp"
#include "typed.hpp"

namespace {

constexpr std::int64_t size = 46500;   // 46500^2 = 2 162 250 000 > 2^31
constexpr std::int64_t spacing = 500;  // one source per cell, none on an edge
constexpr std::int64_t per_side = size / spacing;

/// A cross of five pixels in the middle of each cell: `flux` in the centre, half of it in the arms.
struct PlaceCrosses {
  float* pixels;

  KOKKOS_FUNCTION static float flux(std::int64_t cell) {
    return static_cast<float>(100 + cell % 1000);
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / size;
    const std::int64_t x = i % size;
    const std::int64_t dy = y % spacing - spacing / 2;
    const std::int64_t dx = x % spacing - spacing / 2;
    const std::int64_t cell = (y / spacing) * per_side + x / spacing;
    // A sky of small integers: every sum of it is exact.
    float value = static_cast<float>((x * 7 + y * 13) % 11) - 5.0F;
    if (dx == 0 && dy == 0) value = flux(cell);
    if (dx * dx + dy * dy == 1) value = 0.5F * flux(cell);
    pixels[i] = value;
  }
};

template <class C>
class LargeImage : public ::testing::Test {};

TYPED_TEST_SUITE(LargeImage, testing_support::Execs, testing_support::CaseName);

TYPED_TEST(LargeImage, BeyondTwoToThe31PixelsIsFoundAndMeasured) {
  using Exec = TypeParam;
  const Exec space;
  kastor::Image<float, Exec> image;
  try {
    image = kastor::Image<float, Exec>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::test::large_image"), size,
        size);
  } catch (const std::exception& e) {
    GTEST_SKIP() << "no memory for " << size << " x " << size << " pixels: " << e.what();
  }
  Kokkos::parallel_for(
      "kastor::test::place_crosses",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, size * size),
      PlaceCrosses{image.data()});

  kastor::FindParams params;
  params.level = 20.0;
  const kastor::FindResult found = kastor::find_sources(space, image, params);

  EXPECT_EQ(found.clip.pixels, size * size);
  EXPECT_EQ(found.clip.blank, 0);
  EXPECT_EQ(found.foreground_pixels, 5 * per_side * per_side);
  ASSERT_EQ(static_cast<std::int64_t>(found.sources.size()), per_side * per_side);
  std::int64_t wrong = 0;
  for (const kastor::Source& source : found.sources) {
    // Raster order of the crosses' first pixels is the order of the cells.
    const std::int64_t cell = source.id - 1;
    const std::int64_t x = (cell % per_side) * spacing + spacing / 2;
    const std::int64_t y = (cell / per_side) * spacing + spacing / 2;
    const double flux = PlaceCrosses::flux(cell);
    const bool right = source.x_cen == static_cast<double>(x) &&
                       source.y_cen == static_cast<double>(y) && source.flux_sum == 3.0 * flux &&
                       source.flux_peak == flux && source.x_peak == x && source.y_peak == y &&
                       source.n_pix == 5 && source.x_min == x - 1 && source.x_max == x + 1 &&
                       source.y_min == y - 1 && source.y_max == y + 1;
    if (!right && wrong++ < 3) {
      ADD_FAILURE() << "source " << source.id << " at " << source.x_cen << ", " << source.y_cen
                    << ", flux " << source.flux_sum << "; expected " << x << ", " << y << ", flux "
                    << 3.0 * flux;
    }
  }
  EXPECT_EQ(wrong, 0);
}

/// Runs of 40 pixels in the mean, so many that each thread of a device has several.
struct PlaceLongRuns {
  static constexpr std::int64_t side = 4800;
  float* pixels;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / side;
    const std::int64_t x = i % side;
    using kastor::core::random_bits;
    const auto shift =
        static_cast<std::int64_t>(random_bits(1, static_cast<std::uint64_t>(y)) % 64);
    const auto value = static_cast<float>(random_bits(2, static_cast<std::uint64_t>(i)) >> 40);
    pixels[i] = y % 8 == 7 || (x + shift) % 48 < 8 ? 0.0F : 1.0F + value * 1e-7F;
  }
};

/// Six tenths of the pixels at random: 15 runs for each word of the mask, of which there are so
/// many that it is known which have a bit; an odd number in each row.
struct PlaceSpeckles {
  static constexpr std::int64_t side = 8200;
  float* pixels;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto value =
        static_cast<float>(kastor::core::random_bits(3, static_cast<std::uint64_t>(i)) >> 40);
    pixels[i] = value * 0x1p-24F < 0.6F ? 1.0F + value * 1e-7F : 0.0F;
  }
};

/// Half of the pixels from 0 to 1, a quarter from 1 to 2 and so on: a clip of many passes, each of
/// which moves its limit among thousands of pixels.
struct PlaceFallingTail {
  static constexpr std::int64_t side = 8200;
  float* pixels;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t bits = kastor::core::random_bits(4, static_cast<std::uint64_t>(i));
    int halvings = 0;
    while (halvings < 30 && (bits >> halvings & 1) != 0) ++halvings;
    pixels[i] = static_cast<float>(halvings + static_cast<double>(bits >> 40) * 0x1p-24);
  }
};

template <class Place, class Exec>
kastor::FindResult find_placed(kastor::Connectivity connectivity) {
  constexpr std::int64_t side = Place::side;
  const Exec space;
  const kastor::Image<float, Exec> image(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::test::placed"), side, side);
  Kokkos::parallel_for(
      "kastor::test::place",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, side * side),
      Place{image.data()});
  kastor::FindParams params;
  params.level = 0.5;
  params.label.connectivity = connectivity;
  return kastor::find_sources(space, image, params);
}

template <class Place, class Exec>
void finds_what_one_core_finds(kastor::Connectivity connectivity) {
  const kastor::FindResult want = find_placed<Place, Kokkos::Serial>(connectivity);
  const kastor::FindResult found = find_placed<Place, Exec>(connectivity);
  EXPECT_GT(want.sources.size(), 100U);
  EXPECT_EQ(found.foreground_pixels, want.foreground_pixels);
  EXPECT_TRUE(testing_support::same_bits(found.sources, want.sources));
}

TYPED_TEST(LargeImage, FallingTailsAreClippedAsOnOneCore) {
  using Exec = TypeParam;
  constexpr auto four = kastor::Connectivity::four;
  const kastor::FindResult want = find_placed<PlaceFallingTail, Kokkos::Serial>(four);
  const kastor::FindResult found = find_placed<PlaceFallingTail, Exec>(four);
  EXPECT_GE(want.clip.passes, 10);
  EXPECT_EQ(found.clip.route, kastor::ClipRoute::bracketed);
  EXPECT_TRUE(testing_support::same_bits(found.clip, want.clip));
}

TYPED_TEST(LargeImage, LongRunsAreSummedAsOnOneCore) {
  finds_what_one_core_finds<PlaceLongRuns, TypeParam>(kastor::Connectivity::four);
}

TYPED_TEST(LargeImage, CrowdedMasksAreLabelledAsOnOneCore) {
  for (const auto connectivity : {kastor::Connectivity::four, kastor::Connectivity::eight})
    finds_what_one_core_finds<PlaceSpeckles, TypeParam>(connectivity);
}

}  // namespace
