// SPDX-License-Identifier: Apache-2.0

// The kernels that mark islands by ceilings on a device, run by teams of a host's threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/mark_by_ceilings.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ceilings_naive.hpp"
#include "emulated_team.hpp"
#include "generators.hpp"
#include "island_scenes.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using Teams = ts::EmulatedTeams;
using Words = std::vector<std::uint64_t>;

/// Rows that begin at multiples of 16 bytes, and what may be beyond them.
template <class T>
struct PaddedImage {
  std::int64_t ny, nx, pitch;
  std::vector<kd::PixelPack<T>> packs;

  explicit PaddedImage(const ts::HostImage<T>& image)
      : ny(image.ny), nx(image.nx), pitch((image.nx + 3) / 4 * 4 + 4) {
    constexpr int pack = kd::PixelPack<T>::size;
    packs.resize(static_cast<std::size_t>(ny * pitch / pack));
    T* const pixels = data();
    for (std::int64_t i = 0; i < ny * pitch; ++i) pixels[i] = T(1e9);
    for (std::int64_t y = 0; y < ny; ++y) {
      for (std::int64_t x = 0; x < nx; ++x) pixels[y * pitch + x] = image(y, x);
    }
  }
  [[nodiscard]] T* data() { return packs.front().pixel; }
  [[nodiscard]] kd::Rows<T> rows() { return {data(), ny, nx, pitch}; }
};

/// What the kernels leave.
template <class T>
struct Marked {
  kd::MarkWords<Teams, T> mark{};
  Words usable, foreground, seeds, bits;
  std::vector<std::uint8_t> none_blank;
  std::vector<kd::KeptPixel> places;
  std::vector<std::uint32_t> first;
  std::uint64_t taken[2] = {77, 77};
  std::vector<kd::PatchLimits<T>> limits;

  Marked(const ts::HostImage<T>& image, PaddedImage<T>& padded,
         const kastor::Background<Teams, T>& background, double seed, double flood,
         const Words* region, std::int64_t capacity) {
    const std::int64_t per_row = (image.nx + 63) / 64;
    const auto words = static_cast<std::size_t>(image.ny * per_row);
    constexpr std::uint64_t garbage = 0x5a5a5a5a5a5a5a5a;
    for (Words* list : {&usable, &foreground, &seeds, &bits}) list->assign(words, garbage);
    first.assign(words, 12345);
    places.assign(static_cast<std::size_t>(capacity), {-1, -1, -1});
    limits.resize(static_cast<std::size_t>(kd::patches_of<Teams>(image.ny, per_row)));
    const kd::KeptPixels kept{places.data(), capacity, first.data(), taken,
                              bits.data(),   nullptr,  per_row};
    none_blank.assign(static_cast<std::size_t>((image.ny + 3) / 4 * per_row), 0x5a);
    const kd::IslandMasks masks{usable.data(), foreground.data(), seeds.data(),     nullptr,
                                nullptr,       per_row,           none_blank.data()};
    mark = {{background, seed, flood},
            padded.rows(),
            0,
            limits.data(),
            region == nullptr ? nullptr : region->data(),
            masks,
            kept};
    const kd::BoundPatches<Teams, T> bound{mark.thresholds, image.ny, image.nx, per_row,
                                           limits.data(),   taken,    taken + 1};
    for (std::size_t i = 0; i < limits.size(); ++i) bound(static_cast<std::int64_t>(i));

    const std::vector<T> ceilings = ts::naive_ceilings(image);
    std::vector<kd::PixelPack<T>> aligned(ceilings.size() / kd::PixelPack<T>::size);
    std::copy(ceilings.begin(), ceilings.end(), aligned.front().pixel);
    kd::CeilingsOfCells<T> of_cells;
    of_cells.values = aligned.front().pixel;
    of_cells.stride = kd::ceiling_stride(image.nx);
    std::vector<kd::ListedWord> list(words);
    const kd::BrightPixels bright{list.data(), taken + 1, bits.data()};
    const ts::EmulatedLauncher launch;
    const kd::ListBrightWords<Teams, T> list_words{mark, of_cells, bright};
    launch("words", list_words.teams(), list_words);
    launch("pixels", 2, kd::ListBrightPixels<Teams, T>{mark, bright});
    const kd::JudgeListedPixels<Teams, T> judge{mark, 3};
    for (const std::int64_t worker : {0, 1, 2}) judge(worker);
  }
};

/// Of every pixel of an image: what it is by the maps, in the masks, and among those kept.
template <class T>
void expect_marked(const ts::HostImage<T>& image, const Marked<T>& found, const Words* region,
                   const std::string& what) {
  const std::int64_t per_row = found.mark.masks.words_per_row;
  const kd::UsablePixels usable{found.usable.data(), per_row, found.none_blank.data()};
  std::int64_t wrong = 0, marked = 0;
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < per_row * 64; ++x) {
      const auto word = static_cast<std::size_t>(y * per_row + x / 64);
      const auto is_in = [&](const Words& words) { return (words[word] >> (x % 64) & 1) != 0; };
      typename kd::MarkWords<Teams, T>::Judgement want;
      kd::KeptPixel pixel{};
      if (x < image.nx && std::isfinite(image(y, x)) && (region == nullptr || is_in(*region))) {
        const auto [sky, noise] = kd::both_at(found.mark.thresholds.background, y, x);
        pixel = {static_cast<double>(image(y, x)), sky, noise};
        want = found.mark.judged(pixel.value, sky, noise);
      }
      if (x < image.nx) wrong += usable.lacks_one(y, x, x + 1) == want.usable ? 1 : 0;
      wrong += is_in(found.foreground) == want.foreground ? 0 : 1;
      wrong += is_in(found.seeds) == want.seed ? 0 : 1;
      if (!want.foreground) continue;
      ++marked;
      const kd::KeptPixel* const kept = found.mark.kept.at(y, x);
      wrong += kept->value == pixel.value && kept->sky == pixel.sky && kept->noise == pixel.noise
                   ? 0
                   : 1;
    }
  }
  EXPECT_EQ(wrong, 0) << what << ", " << ts::shape_name(image.ny, image.nx);
  EXPECT_GT(marked, 0) << what;
}

template <class T>
kastor::Background<Teams, T> on_meshes(std::int64_t ny, std::int64_t nx, bool positive) {
  const auto level = ts::random_mesh(ny, nx, 64, 64, 0, 0.2, false, 5);
  // Noise that is not positive somewhere: pixels are blank there.
  const auto rms = ts::random_mesh(ny, nx, 64, 64, 1, positive ? 0.1 : 1.0, positive, 6);
  return {kastor::PixelMap<Teams, T>(ts::to_device_surface<Teams>(level)),
          kastor::PixelMap<Teams, T>(ts::to_device_surface<Teams>(rms))};
}

template <class T>
void masks_are_those_of_the_maps() {
  for (const auto& [ny, nx] : {std::pair{70, 200}, std::pair{33, 64}, std::pair{5, 130},
                               std::pair{3, 2100}, std::pair{1, 7}}) {
    auto image = ts::make_image<T>(ts::Pixels::gaussian, ny, nx, 7);
    image(0, 0) = T(30);
    image(ny / 2, nx / 3) = std::numeric_limits<T>::quiet_NaN();
    image(ny / 3, nx / 2) = std::numeric_limits<T>::infinity();
    image(ny - 1, nx - 1) = T(40);
    PaddedImage<T> padded(image);
    Words region(static_cast<std::size_t>(ny * ((nx + 63) / 64)));
    ts::Random random(3);
    for (std::uint64_t& word : region) word = random.next() | random.next();
    region.front() |= 1;
    for (const bool positive : {true, false}) {
      const auto background = on_meshes<T>(ny, nx, positive);
      for (const Words* in :
           {static_cast<const Words*>(nullptr), static_cast<const Words*>(&region)}) {
        for (const double flood : {0.0, 1.0, 3.0}) {
          Marked<T> found(image, padded, background, flood + 1, flood, in, ny * nx);
          EXPECT_TRUE(found.mark.kept.need().is_met());
          expect_marked(image, found, in,
                        "flood " + std::to_string(flood) + (positive ? "" : ", blank noise") +
                            (in == nullptr ? "" : ", region"));
        }
      }
    }
    const kastor::Background<Teams, T> constants{0.0, 1.0};
    Marked<T> found(image, padded, constants, 4, 2, nullptr, ny * nx);
    expect_marked(image, found, nullptr, "constants");
  }
}
TEST(MarkByCeilings, MasksAreThoseOfTheMapsForFloat) { masks_are_those_of_the_maps<float>(); }
TEST(MarkByCeilings, MasksAreThoseOfTheMapsForDouble) { masks_are_those_of_the_maps<double>(); }

TEST(MarkByCeilings, FindsTheOnesOfAWordByTheirNumber) {
  ts::Random random(11);
  std::vector<std::uint64_t> words{1, 1ULL << 63, ~0ULL, 0xffffffff00000000, 0x8000000080000001};
  for (int i = 0; i < 100; ++i) words.push_back(random.next() & random.next());
  for (const std::uint64_t word : words) {
    std::uint32_t before = 0;
    for (int place = 0; place < 64; ++place) {
      if ((word >> place & 1) == 0) continue;
      EXPECT_EQ(kd::place_of_one(word, before), place) << word;
      ++before;
    }
  }
}

TEST(UsablePixels, LackOneWhereTheWordsCountAndAPixelIsNone) {
  ts::Random random(23);
  constexpr std::int64_t ny = 9, per_row = 5;
  Words words(ny * per_row);
  std::vector<std::uint8_t> none_blank((ny + 3) / 4 * per_row);
  for (std::uint64_t& word : words)
    word = random.below(3) == 0 ? ~std::uint64_t{0} : random.next() | random.next() | random.next();
  for (std::uint8_t& byte : none_blank) byte = static_cast<std::uint8_t>(random.below(2));
  const kd::UsablePixels with{words.data(), per_row, none_blank.data()};
  const kd::UsablePixels without{words.data(), per_row, nullptr};
  int lacking = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t y = random.below(ny), begin = random.below(per_row * 64);
    const std::int64_t end =
        begin + 1 +
        random.below(std::min<std::int64_t>(per_row * 64 - begin, i % 2 == 0 ? 10 : 320));
    bool any = false, any_that_counts = false;
    for (std::int64_t x = begin; x < end; ++x) {
      const auto word = static_cast<std::size_t>(y * per_row + x / 64);
      const bool is_blank = (words[word] >> (x % 64) & 1) == 0;
      any |= is_blank;
      any_that_counts |=
          is_blank && none_blank[static_cast<std::size_t>(y / 4 * per_row + x / 64)] == 0;
    }
    EXPECT_EQ(without.lacks_one(y, begin, end), any) << y << ' ' << begin << ' ' << end;
    EXPECT_EQ(with.lacks_one(y, begin, end), any_that_counts) << y << ' ' << begin << ' ' << end;
    lacking += any_that_counts ? 1 : 0;
  }
  EXPECT_GT(lacking, 500);
  EXPECT_LT(lacking, 4500);
}

/// Several full teams.
TEST(MarkByCeilings, MasksOfACrowdAreThoseOfTheMaps) {
  auto image = ts::make_image<float>(ts::Pixels::gaussian, 8, 8192, 7);
  for (float& x : image.values) x = std::fabs(x);
  PaddedImage<float> padded(image);
  const kastor::Background<Teams, float> constants{0.0, 1.0};
  Marked<float> found(image, padded, constants, 2, 0, nullptr, 8 * 8192);
  EXPECT_EQ(found.taken[1], 8U * 128U);
  expect_marked(image, found, nullptr, "crowd");
}

/// Too few places: nothing beyond them is written, and how many were wanted is known.
TEST(MarkByCeilings, SaysSoWhenPlacesRunOut) {
  const auto image = ts::make_image<float>(ts::Pixels::gaussian, 40, 192, 7);
  PaddedImage<float> padded(image);
  const kastor::Background<Teams, float> constants{0.0, 1.0};
  std::uint64_t above = 0;
  for (const float x : image.values) above += x > 1 ? 1 : 0;
  for (const std::int64_t capacity : {0, 1, 100, static_cast<int>(above) - 1}) {
    Marked<float> found(image, padded, constants, 2, 1, nullptr, capacity);
    EXPECT_FALSE(found.mark.kept.need().is_met()) << capacity;
    EXPECT_EQ(found.taken[0], above) << capacity;
    for (const std::uint64_t word : found.foreground) EXPECT_EQ(word, 0U);
  }
}

/// Where ceilings are below all limits, no pixel is looked at: rows that are not there are not
/// read.
TEST(MarkByCeilings, ReadsNoPixelBelowItsLimit) {
  auto image = ts::make_image<float>(ts::Pixels::gaussian, 64, 128, 7);
  for (float& x : image.values) x = x < 2 ? x : 2;
  image(17, 70) = 9;
  PaddedImage<float> padded(image);
  for (std::int64_t y = 0; y < 64; ++y) {
    for (std::int64_t x = 0; x < 128; ++x) {
      const bool shares = (y == 17 || y == 19) && x >= 64 && x < 80;
      if (!shares) padded.data()[y * padded.pitch + x] = 100;
    }
  }
  const kastor::Background<Teams, float> constants{0.0, 1.0};
  Marked<float> found(image, padded, constants, 5, 3, nullptr, 100);
  EXPECT_EQ(found.taken[0], 1U);
  EXPECT_EQ(found.taken[1], 2U);
  expect_marked(image, found, nullptr, "one source");
}

}  // namespace
