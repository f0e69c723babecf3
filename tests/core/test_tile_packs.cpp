// SPDX-License-Identifier: Apache-2.0

// The packs of a tile of words, and the list of places that a group makes of it.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <limits>
#include <vector>

#include "core/atomics.hpp"
#include "core/group.hpp"
#include "core/pack.hpp"
#include "core/tile_list.hpp"
#include "core/tile_packs.hpp"
#include "core/word_rows.hpp"
#include "generators.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;

constexpr int words_of_tile = 12;

/// Groups go through all tiles, list the places of the pixels above 0, and visit them.
template <class Exec, class T, int most>
struct VisitPositive {
  using List = core::TileList<Exec, most>;
  core::WordRows<T> rows;
  int* visits;               ///< of each place of the words
  std::int64_t* seen;        ///< (2) pixels that are numbers, and the sum of those above 0
  std::uint32_t* not_equal;  ///< visited pixels that are not those of their place

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto& space = *group.template scratch<typename List::Space>();
    List list(group, space);
    std::int64_t mine[2] = {};
    const std::int64_t step = group.count() * words_of_tile;
    for (std::int64_t tile = group.index() * words_of_tile; tile < rows.words(); tile += step) {
      const std::int64_t left = rows.words() - tile;
      const core::TilePacks<Exec, T> packs(
          rows, tile, static_cast<int>(left < words_of_tile ? left : words_of_tile));
      const auto visit = [&](int place, T x) {
        core::atomic_add(&visits[tile * 64 + place], 1);
        if (!(packs.at(place) == x)) core::atomic_add(not_equal, 1U);
        core::atomic_add(&seen[1], static_cast<std::int64_t>(x));
      };
      packs.for_each(
          group,
          [&](const auto& pack, int place) {
            const T first = pack.pixel[0];
            if (first == first && !(packs.at(place) == first)) core::atomic_add(not_equal, 1U);
            mine[0] += core::count_where(pack, [](T x) { return x == x; });
            return core::bits_where(pack, [](T x) { return x > T{0}; });
          },
          [&](std::uint64_t bits, const auto& place_of, const auto& pixel_of) {
            list.add(bits, place_of, pixel_of, visit);
          });
      list.share([&](int place) { visit(place, packs.at(place)); });
    }
    group.sum_words(mine);
    if (group.rank() == 0) core::atomic_add(&seen[0], mine[0]);
  }
};

struct BandShape {
  std::int64_t ny, nx, pitch, offset;
};
constexpr BandShape shapes[] = {{1, 1, 1, 0},   {3, 64, 64, 0},      {40, 63, 63, 1},
                                {7, 65, 80, 3}, {29, 1000, 1001, 5}, {2, 4096, 4096, 0}};

template <class C, int threads, int most>
void every_positive_pixel_is_visited_once() {
  using Exec = typename C::exec;
  using T = typename C::real;
  ts::Random random(8);
  for (const auto& [ny, nx, pitch, offset] : shapes) {
    std::vector<T> pixels(static_cast<std::size_t>(offset + ny * pitch));
    for (T& x : pixels)
      x = random.below(9) == 0 ? std::numeric_limits<T>::quiet_NaN()
                               : static_cast<T>(random.below(1000)) - T{800};
    const auto there = ts::to_device_list<Exec>(pixels);
    const core::WordRows<T> rows(kastor::detail::Rows<T>{there.data() + offset, ny, nx, pitch});
    const ts::DeviceList<Exec, int> visits("test::visits",
                                           static_cast<std::size_t>(64 * rows.words()));
    const ts::DeviceList<Exec, std::int64_t> seen("test::seen", 2);
    const ts::DeviceList<Exec, std::uint32_t> not_equal("test::not_equal", 1);
    using Visit = VisitPositive<Exec, T, most>;
    const Exec space;
    core::for_each_group<threads>("test::visit", space,
                                  {3, static_cast<int>(sizeof(typename Visit::List::Space))},
                                  Visit{rows, visits.data(), seen.data(), not_equal.data()});
    space.fence("test::visit");

    std::vector<int> want(visits.extent(0));
    std::vector<std::int64_t> want_seen(2);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) {
        const T value = pixels[static_cast<std::size_t>(offset + y * pitch + x)];
        if (value == value) ++want_seen[0];
        if (!(value > T{0})) continue;
        want_seen[1] += static_cast<std::int64_t>(value);
        want[static_cast<std::size_t>(64 * (y * rows.words_per_row) + x)] = 1;
      }
    }
    EXPECT_EQ(ts::to_vector(visits), want) << ny << " x " << nx;
    EXPECT_EQ(ts::to_vector(seen), want_seen) << ny << " x " << nx;
    EXPECT_EQ(ts::to_vector(not_equal), std::vector<std::uint32_t>(1)) << ny << " x " << nx;
  }
}

template <class T>
class TilesOfWords : public ::testing::Test {};
TYPED_TEST_SUITE(TilesOfWords, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(TilesOfWords, AreListedPixelByPixel) {
  constexpr int all = 64 * words_of_tile;
  every_positive_pixel_is_visited_once<TypeParam, 32, all>();
  every_positive_pixel_is_visited_once<TypeParam, 256, all>();
}
TYPED_TEST(TilesOfWords, AreListedAsFarAsThereIsRoom) {
  every_positive_pixel_is_visited_once<TypeParam, 32, 5>();
  every_positive_pixel_is_visited_once<TypeParam, 256, 64>();
}

}  // namespace
