// SPDX-License-Identifier: Apache-2.0

// The kernels that estimate many cells on a device, run by teams of a host's threads: the same bits
// as on a host.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/excerpt_cells.hpp>
#include <limits>
#include <string>
#include <vector>

#include "ceilings_naive.hpp"
#include "cell_estimates.hpp"
#include "emulated_team.hpp"
#include "generators.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using Teams = ts::EmulatedTeams;
using ts::cells_of;
using ts::Estimated;
using ts::expect_same;
using ts::on_host;
using ts::usual;

struct Pool {
  std::size_t pixels_of_cell = 1000;
  int cells_at_once = 1 << 17;
};

template <class T>
Estimated by_excerpts(const kd::CellImage<T>& image, const kd::CellRules& rules = usual,
                      const Pool& pool = {}, const kd::CeilingRoom<T>& ceilings = {}) {
  const auto cells = static_cast<std::size_t>(image.mesh.ny * image.mesh.nx);
  const auto count = static_cast<int>(cells);
  Estimated found(count);
  std::vector<kd::CellExcerpt<T>> excerpts(cells);
  std::vector<T> pixels(pool.pixels_of_cell * cells);
  std::vector<std::int32_t> rest(cells, -1);
  std::uint32_t unfinished = 0, used = 0;
  const kd::ExcerptPool<T> room{pixels.data(), static_cast<std::uint32_t>(pixels.size()), &used};
  const kd::CellList list{rest.data(), &unfinished};
  const kd::EstimateCell<T> estimate{image, rules, found.output()};
  using Take = kd::TakeExcerpts<T, Teams>;
  using Clip = kd::ClipExcerpts<T, Teams>;
  const ts::EmulatedLauncher launch;
  for (int first = 0; first < count; first += pool.cells_at_once) {
    const int n = std::min(pool.cells_at_once, count - first);
    used = unfinished = 0;
    launch("take", Take::teams(n),
           Take{image, rules.kappa, first, n, room, excerpts.data(), list, ceilings});
    launch("clip", Clip::teams(n), Clip{estimate, first, n, excerpts.data(), list});
    // Two cells by one warp each, two more by four, or more than that put in order.
    launch("estimate", 2, kd::EstimateByTeams<T, Teams, 32>{estimate, {0, list, 0, 2}});
    launch("estimate", 2, kd::EstimateByTeams<T, Teams, 128>{estimate, {0, list, 2, 4}});
    constexpr int threads = 32 * sizeof(T);
    launch("sort", 2, kd::SortByTeams<T, Teams, threads>{estimate, {0, list, 4}});
    found.unfinished += unfinished;
  }
  return found;
}

template <class T>
void all_pixel_kinds_agree() {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    // Rows in packs of pixels, and rows that begin anywhere; the last cells are cut.
    for (const auto& [ny, nx] : {std::pair{70, 144}, std::pair{66, 67}}) {
      const auto host = ts::make_image<T>(kind, ny, nx, 23);
      const auto image = cells_of(host, 64);
      expect_same(by_excerpts(image), on_host(image),
                  std::string(ts::name_of(kind)) + ' ' + ts::shape_name(ny, nx));
    }
  }
}
TEST(ExcerptCells, GiveTheBitsOfAHostOfFloat) { all_pixel_kinds_agree<float>(); }
TEST(ExcerptCells, GiveTheBitsOfAHostOfDouble) { all_pixel_kinds_agree<double>(); }

TEST(ExcerptCells, LeaveOutExcludedPixels) {
  const auto host = ts::make_image<float>(ts::Pixels::contaminated, 64, 128, 3);
  std::vector<std::uint64_t> words(64 * 2);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x0123456789abcdef >> i % 7;
  auto image = cells_of(host, 64);
  const Estimated all = on_host(image);
  image.excluded = {words.data(), 2};
  const Estimated want = on_host(image);
  EXPECT_LT(want.counts.good, all.counts.good);
  expect_same(by_excerpts(image), want, "excluded");
}

/// A normal sky has nothing that an excerpt could not say.
TEST(ExcerptCells, FinishEveryCellOfASky) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const auto host = ts::make_image<float>(ts::Pixels::gaussian, 128, 128, seed);
    const auto image = cells_of(host, 64);
    const Estimated found = by_excerpts(image);
    EXPECT_EQ(found.unfinished, 0U) << seed;
    expect_same(found, on_host(image), "seed " + std::to_string(seed));
  }
}

/// Sources shift the medians and fill the tails; one pixel far off makes the grid coarse.
TEST(ExcerptCells, OfSourcesAndOfAHugePixelAreTheSame) {
  auto host = ts::make_image<float>(ts::Pixels::gaussian, 128, 192, 8);
  for (std::int64_t y = 0; y < 8; ++y)
    for (std::int64_t x = 0; x < 20; ++x) {
      host(10 + y, 10 + x) += 30;   // 4 % of a cell
      host(80 + y, 140 + x) -= 30;  // below
      host(20, 100) = 1e6F;
    }
  const auto image = cells_of(host, 64);
  const Estimated found = by_excerpts(image);
  EXPECT_EQ(found.unfinished, 1U);  // the huge pixel's
  expect_same(found, on_host(image), "sources");
}

TEST(ExcerptCells, ThatFindNoRoomAreNotLost) {
  const auto host = ts::make_image<float>(ts::Pixels::gaussian, 128, 192, 7);
  const auto image = cells_of(host, 64);
  const Estimated want = on_host(image);
  const Estimated without = by_excerpts(image, usual, {.pixels_of_cell = 0});
  EXPECT_EQ(without.unfinished, 6U);
  expect_same(without, want, "no room");
  const Estimated some = by_excerpts(image, usual, {.pixels_of_cell = 40});
  EXPECT_GT(some.unfinished, 0U);
  EXPECT_LT(some.unfinished, 6U);
  expect_same(some, want, "room for some");
}

/// A sample that found next to nothing says nothing of the tails.
TEST(ExcerptCells, OfFewGoodPixelsAreTheSame) {
  auto host = ts::make_image<float>(ts::Pixels::gaussian, 64, 128, 11);
  ts::Random random(3);
  for (float& x : host.values) {
    const double u = random.uniform();
    if (u > 0.022) x = std::numeric_limits<float>::quiet_NaN();
    if (u < 0.001) x += 30;
  }
  kd::CellRules rules = usual;
  rules.min_good_fraction = 0;
  const auto image = cells_of(host, 64);
  const Estimated want = on_host(image, rules);
  EXPECT_EQ(want.counts.valid, 2);
  expect_same(by_excerpts(image, rules), want, "few good pixels");
}

TEST(ExcerptCells, WithOtherRulesAndInBatchesAreTheSame) {
  const auto host = ts::make_image<float>(ts::Pixels::contaminated, 128, 200, 13);
  const auto image = cells_of(host, 64);
  for (const double kappa : {2.4, 3.0, 6.0, 1e300}) {
    for (const int max_passes : {0, 1, 2}) {
      kd::CellRules rules = usual;
      rules.kappa = kappa;
      rules.max_passes = max_passes;
      rules.estimate = kastor::BackgroundEstimate::median;
      expect_same(by_excerpts(image, rules, {.cells_at_once = 3}), on_host(image, rules),
                  "kappa " + std::to_string(kappa) + " passes " + std::to_string(max_passes));
    }
  }
}

/// The ceilings of whole cells without a blank pixel are their largest pixels; others are infinite.
TEST(ExcerptCells, LeaveCeilings) {
  auto host = ts::make_image<float>(ts::Pixels::gaussian, 160, 144, 17);
  for (float& x : host.values) x -= 5;                       // negative ones, too
  host(70, 70) = std::numeric_limits<float>::quiet_NaN();    // in the cell in the middle
  host(130, 20) = -std::numeric_limits<float>::infinity();   // in one of half the height
  for (std::int64_t x = 0; x < 64; ++x) host(13, x) = 1e6F;  // its grid is too coarse
  for (const bool aligned : {true, false}) {
    std::vector<kd::PixelPack<float>> packs(host.values.size() / 4 + 1);
    float* const pixels = packs.front().pixel + (aligned ? 0 : 1);
    std::copy(host.values.begin(), host.values.end(), pixels);
    auto image = cells_of(host, 64);
    image.rows.one.data = pixels;
    std::vector<float> values(static_cast<std::size_t>(kd::count_of_ceilings(image.image)),
                              std::numeric_limits<float>::quiet_NaN());
    const kd::CeilingRoom<float> room{values.data(), kd::ceiling_stride(image.image.nx)};
    const Estimated found = by_excerpts(image, usual, {}, room);
    expect_same(found, on_host(image), "with ceilings");
    kd::CeilingsOfCells<float> ceilings;
    ceilings.values = room.values;
    ceilings.stride = room.stride;
    for (std::int64_t y = 0; y < host.ny; ++y) {
      for (std::int64_t x = 0; x < host.nx; ++x) {
        const std::int64_t cell = y / 64 * 3 + x / 64;
        const bool is_blank = cell == 4 || cell == 6;
        const bool is_known = aligned && x < 128 && !is_blank;
        const float want =
            is_known ? ts::naive_ceiling(host, y, x) : std::numeric_limits<float>::infinity();
        ASSERT_EQ(*ceilings.of(y, x), want) << y << ' ' << x << (aligned ? "" : ", not aligned");
      }
    }
  }
}

/// Terms of the same sign and of nearly the largest magnitude.
template <class T>
void sums_of_grid_terms_are_exact() {
  const T x = T(1.9999), y = T(1.7777);
  const kd::GridTerms<T> terms(kd::Grid(0, -static_cast<double>(x), static_cast<double>(x)));
  const auto u = [&](T value) { return terms.grid.map(static_cast<double>(value)); };
  for (const T sign : {T(1), T(-1)}) {
    typename kd::GridTerms<T>::Sums sums;
    std::int64_t sum = 0, squares = 0;
    for (int n = 8; n <= kd::GridTerms<T>::most_terms; n += 8) {
      const T chunk[8] = {sign * x, sign * x, sign * y, sign * x,
                          sign * x, sign * x, sign * x, sign * y};
      terms.add(chunk, sums);
      for (const T value : chunk) {
        sum += kd::unbias(kd::to_grid_biased(u(value)), 1);
        squares += kd::unbias(kd::to_grid_biased(u(value) * u(value)), 1);
      }
      ASSERT_EQ(terms.in_steps(sums.sum), sum) << n;
      ASSERT_EQ(terms.in_steps(sums.squares), squares) << n;
    }
  }
}
TEST(GridTerms, OfFloatsAddUpExactly) { sums_of_grid_terms_are_exact<float>(); }
TEST(GridTerms, OfDoublesAddUpExactly) { sums_of_grid_terms_are_exact<double>(); }

}  // namespace
