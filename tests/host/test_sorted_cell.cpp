// SPDX-License-Identifier: Apache-2.0

// Cells that teams put in order, run by a host's threads: the same bits as on a host.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cell_estimates.hpp"
#include "emulated_team.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using ts::cells_of;
using ts::Estimated;
using ts::expect_same;
using ts::on_host;
using ts::usual;

/// Two teams take the cells in turns.
template <class T, int Threads>
Estimated by_sorting(const kd::CellImage<T>& image, const kd::CellRules& rules = usual) {
  const std::int64_t cells = image.mesh.ny * image.mesh.nx;
  Estimated found(cells);
  using Sort = kd::SortByTeams<T, ts::EmulatedTeams, Threads>;
  EXPECT_LE(image.cell.ny * image.cell.nx, Sort::Sorted::most_pixels);
  const kd::EstimateCell<T> estimate{image, rules, found.output()};
  ts::EmulatedLauncher{}("sort", 2, Sort{estimate, {static_cast<int>(cells)}});
  return found;
}

template <class T>
void all_pixel_kinds_agree() {
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    // Rows in packs of pixels, and rows that begin anywhere; the last cells are cut.
    for (const auto& [ny, nx] : {std::pair{40, 72}, std::pair{37, 51}}) {
      const auto host = ts::make_image<T>(kind, ny, nx, 31);
      const std::string what = std::string(ts::name_of(kind)) + ' ' + ts::shape_name(ny, nx);
      const auto image = cells_of(host, sizeof(T) == 4 ? 32 : 20);
      expect_same(by_sorting<T, 32>(image), on_host(image), what);
    }
  }
}
TEST(SortedCell, GivesTheBitsOfAHostOfFloat) { all_pixel_kinds_agree<float>(); }
TEST(SortedCell, GivesTheBitsOfAHostOfDouble) { all_pixel_kinds_agree<double>(); }

/// By four warps and by eight, with cells that fill them and cells that do not.
template <class T, int Threads>
void large_cells_agree(std::int64_t size) {
  const auto host = ts::make_image<T>(ts::Pixels::contaminated, size, size + 9, 7);
  const auto image = cells_of(host, size);
  expect_same(by_sorting<T, Threads>(image), on_host(image), std::to_string(size));
}
TEST(SortedCell, OfFourWarpsIsTheSame) {
  large_cells_agree<float, 128>(64);
  large_cells_agree<float, 128>(61);
  large_cells_agree<double, 128>(44);
}
TEST(SortedCell, OfEightWarpsIsTheSame) {
  large_cells_agree<float, 256>(70);
  large_cells_agree<double, 256>(64);
}

/// So many pixels are cut that one look at both ends does not find them all, and the sums begin
/// anew on a finer grid.
template <class T>
void crowds_agree() {
  ts::Random random(3);
  for (const double share : {0.05, 0.3, 0.6}) {
    for (const double faintest : {0.5, 40.0, 1e7}) {
      auto host = ts::make_image<T>(ts::Pixels::gaussian, 28, 84, 5);
      for (T& x : host.values) {
        if (random.uniform() < share)
          x += static_cast<T>((random.uniform() < 0.7 ? faintest : -faintest) /
                              std::pow(random.uniform(), 1.5));
      }
      const auto image = cells_of(host, 28);
      expect_same(by_sorting<T, 64>(image), on_host(image),
                  std::to_string(share) + " from " + std::to_string(faintest));
    }
  }
}
TEST(SortedCell, OfCrowdsIsTheSameOfFloat) { crowds_agree<float>(); }
TEST(SortedCell, OfCrowdsIsTheSameOfDouble) { crowds_agree<double>(); }

TEST(SortedCell, FollowsAllRules) {
  const auto host = ts::make_image<float>(ts::Pixels::contaminated, 32, 64, 13);
  const auto image = cells_of(host, 32);
  for (const double kappa : {0.5, 3.0, 1e300}) {
    for (const int max_passes : {0, 1, 2}) {
      kd::CellRules rules = usual;
      rules.kappa = kappa;
      rules.max_passes = max_passes;
      expect_same(by_sorting<float, 32>(image, rules), on_host(image, rules),
                  "kappa " + std::to_string(kappa) + " passes " + std::to_string(max_passes));
    }
  }
}

TEST(SortedCell, LeavesOutExcludedPixels) {
  const auto host = ts::make_image<float>(ts::Pixels::contaminated, 32, 64, 3);
  std::vector<std::uint64_t> words(32);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = 0x0123456789abcdef >> i % 7;
  auto image = cells_of(host, 32);
  const Estimated all = on_host(image);
  image.excluded = {words.data(), 1};
  const Estimated want = on_host(image);
  EXPECT_LT(want.counts.good, all.counts.good);
  expect_same(by_sorting<float, 32>(image), want, "excluded");
}

/// Two bands, so that rows are not within reach of each other.
TEST(SortedCell, ReadsBands) {
  const auto host = ts::make_image<float>(ts::Pixels::half_blank, 32, 64, 4);
  auto image = cells_of(host, 32);
  const Estimated want = on_host(image);
  const kd::BandRows<float> bands[] = {{host.values.data(), host.nx, 0},
                                       {host.values.data() + 20 * host.nx, host.nx, 20}};
  image.rows.bands = bands;
  image.rows.count = 2;
  expect_same(by_sorting<float, 32>(image), want, "bands");
}

}  // namespace
