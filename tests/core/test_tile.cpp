// SPDX-License-Identifier: Apache-2.0

// Tiles in scratch memory, and the sums of products that threads make there.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/group.hpp"
#include "core/product_sums.hpp"
#include "core/tile.hpp"
#include "core/upload.hpp"
#include "core/writable_rows.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;
using ts::run_groups;

/// Around 32 threads side by side, and eight rows at once.
constexpr std::pair<int, int> rectangles[] = {{0, 5},  {5, 0},   {1, 1},   {1, 32},  {3, 31},
                                              {4, 33}, {31, 64}, {32, 65}, {33, 46}, {100, 7}};

// ------------------------------------------------------------------------------ rectangles

template <class Exec>
struct CountVisits {
  int ny, nx;
  int* visits;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    int* mine = visits + group.index() * ny * nx;
    group.for_each_2d(ny, nx, [&](int y, int x) { Kokkos::atomic_add(mine + y * nx + x, 1); });
  }
};

template <class Exec, int threads>
void every_pixel_is_visited_once() {
  for (const auto& [ny, nx] : rectangles) {
    const ts::DeviceList<Exec, int> visits("test::visits", static_cast<std::size_t>(3 * ny * nx));
    run_groups<threads, Exec>(3, 0, CountVisits<Exec>{ny, nx, visits.data()});
    EXPECT_EQ(ts::to_vector(visits), std::vector<int>(visits.extent(0), 1)) << ny << " x " << nx;
  }
}

/// Copies a rectangle into the middle of scratch memory full of -1, and all of that out again.
template <class Exec, class T>
struct CopyThroughScratch {
  static constexpr int margin = 2;
  const T* from;
  std::int64_t from_pitch;
  int ny, nx;
  T* out;

  [[nodiscard]] KOKKOS_FUNCTION int pitch() const {
    return core::scratch_pitch<Exec, T>(nx + 2 * margin);
  }
  [[nodiscard]] KOKKOS_FUNCTION int count() const { return (ny + 2 * margin) * pitch(); }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    T* tile = group.template scratch<T>(count());
    group.for_each(count(), [&](int i) { tile[i] = T{-1}; });
    group.barrier();
    core::copy_rows(group, ny, nx, from + group.index(), from_pitch,
                    tile + margin * pitch() + margin, pitch());
    group.barrier();
    group.for_each(count(), [&](int i) { out[group.index() * count() + i] = tile[i]; });
  }
};

template <class Exec, class T, int threads>
void rows_are_copied() {
  for (const auto& [ny, nx] : rectangles) {
    const std::int64_t from_pitch = nx + 9;
    std::vector<T> image;
    for (std::int64_t i = 0; i < ny * from_pitch + 2; ++i) image.push_back(static_cast<T>(i % 999));
    const auto on_device = ts::to_device_list<Exec>(image);
    CopyThroughScratch<Exec, T> copy{on_device.data(), from_pitch, ny, nx, nullptr};
    const ts::DeviceList<Exec, T> out("test::out", static_cast<std::size_t>(2 * copy.count()));
    copy.out = out.data();
    run_groups<threads, Exec>(2, copy.count() * static_cast<int>(sizeof(T)), copy);

    std::vector<T> want(out.extent(0), T{-1});
    for (std::int64_t group = 0; group < 2; ++group)
      for (std::int64_t y = 0; y < ny; ++y)
        for (std::int64_t x = 0; x < nx; ++x)
          want[static_cast<std::size_t>(group * copy.count() + (y + 2) * copy.pitch() + x + 2)] =
              image[static_cast<std::size_t>(y * from_pitch + x + group)];
    EXPECT_EQ(ts::to_vector(out), want) << ny << " x " << nx;
  }
}

// ------------------------------------------------------------------------------ sums of products

template <class Exec, class T>
struct SumProducts {
  using Sums = core::ProductSums<Exec, T>;
  const T* pixels;
  int step;
  const T* taps;
  int first_taps, all_taps;
  T* result;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    Sums sums;
    sums.add(pixels, step, taps, first_taps);
    sums.add(pixels + first_taps * step, step, taps + first_taps, all_taps - first_taps);
    for (int r = 0; r < Sums::run; ++r)
      for (int k = 0; k < Sums::lanes; ++k) result[r * Sums::lanes + k] = sums.sum[r][k];
  }
};

template <class Exec, class T>
void products_are_added_in_order() {
  using Sums = core::ProductSums<Exec, T>;
  ts::Random random(3);
  std::vector<T> pixels, taps;
  for (int i = 0; i < 4000; ++i) pixels.push_back(static_cast<T>(random.gaussian()));
  for (int i = 0; i < 40; ++i) taps.push_back(static_cast<T>(random.gaussian()));
  const auto device_pixels = ts::to_device_list<Exec>(pixels);
  const auto device_taps = ts::to_device_list<Exec>(taps);
  for (const int step : {1, 37}) {
    for (int n = 0; n <= 40; ++n) {
      const ts::DeviceList<Exec, T> result("test::result", Sums::size);
      Kokkos::parallel_for("test::sums", Kokkos::RangePolicy<Exec>(0, 1),
                           SumProducts<Exec, T>{device_pixels.data(), step, device_taps.data(),
                                                n / 3, n, result.data()});
      std::vector<T> want;
      for (int r = 0; r < Sums::run; ++r) {
        for (int k = 0; k < Sums::lanes; ++k) {
          T sum = 0;
          for (int j = 0; j < n; ++j)
            sum += taps[static_cast<std::size_t>(j)] *
                   pixels[static_cast<std::size_t>((r + j) * step + k)];
          want.push_back(sum);
        }
      }
      EXPECT_EQ(ts::to_vector(result), want) << n << " taps, step " << step;
    }
  }
}

// ------------------------------------------------------------------------------ lists and rows

template <class Exec, class T>
void lists_arrive() {
  const Exec space;
  for (const int n : {0, 1, 1000}) {
    std::vector<T> list;
    for (int i = 0; i < n; ++i) list.push_back(static_cast<T>(i));
    const auto copy = core::upload(space, "test::upload", list);
    space.fence("test::upload");
    EXPECT_EQ(copy.label(), "test::upload");
    EXPECT_EQ(ts::to_vector(copy), list);
  }
}

template <class Exec, class T>
void rows_have_the_pitch_of_the_view() {
  using Image = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;
  const Image image("test::image", 7, 11);
  const auto whole = core::writable_rows_of(image);
  EXPECT_EQ(whole.data, image.data());
  EXPECT_EQ(whole.ny, 7);
  EXPECT_EQ(whole.nx, 11);
  EXPECT_EQ(whole.pitch, 11);
  const auto cut_out =
      core::writable_rows_of(Kokkos::subview(image, std::make_pair(2, 5), std::make_pair(3, 7)));
  EXPECT_EQ(cut_out.data, image.data() + 2 * 11 + 3);
  EXPECT_EQ(cut_out.ny, 3);
  EXPECT_EQ(cut_out.nx, 4);
  EXPECT_EQ(cut_out.pitch, 11);
  const auto row =
      core::writable_rows_of(Kokkos::subview(image, std::make_pair(2, 3), std::make_pair(3, 7)));
  EXPECT_EQ(row.ny, 1);
  EXPECT_EQ(row.nx, 4);
}

template <class C>
class Tile : public ::testing::Test {};
TYPED_TEST_SUITE(Tile, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Tile, EveryPixelIsVisitedOnce) {
  every_pixel_is_visited_once<typename TypeParam::exec, 32>();
  every_pixel_is_visited_once<typename TypeParam::exec, 128>();
}
TYPED_TEST(Tile, RowsAreCopied) {
  rows_are_copied<typename TypeParam::exec, typename TypeParam::real, 32>();
  rows_are_copied<typename TypeParam::exec, typename TypeParam::real, 128>();
}
TYPED_TEST(Tile, ProductsAreAddedInOrder) {
  products_are_added_in_order<typename TypeParam::exec, typename TypeParam::real>();
}
TYPED_TEST(Tile, ListsArrive) {
  lists_arrive<typename TypeParam::exec, typename TypeParam::real>();
}
TYPED_TEST(Tile, RowsHaveThePitchOfTheView) {
  rows_have_the_pitch_of_the_view<typename TypeParam::exec, typename TypeParam::real>();
}

}  // namespace
