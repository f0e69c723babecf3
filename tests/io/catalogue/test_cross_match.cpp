// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/cross_match.hpp>
#include <kastor/io/robust.hpp>
#include <limits>
#include <random>
#include <tuple>

namespace {

using kastor::io::chord_of_arcsec;
using kastor::io::cross_match;
using kastor::io::MatchedPair;
using kastor::io::MatchPoint;
using kastor::io::unit_vector;
using Points = std::vector<MatchPoint>;
using Indices = std::vector<std::pair<std::size_t, std::size_t>>;

/// Every pair within the radius, the closest first, each point once.
Indices naive_match(const Points& first, const Points& second, double radius) {
  std::vector<std::tuple<double, std::size_t, std::size_t>> all;
  for (std::size_t i = 0; i < first.size(); ++i) {
    for (std::size_t j = 0; j < second.size(); ++j) {
      const double x = first[i][0] - second[j][0];
      const double y = first[i][1] - second[j][1];
      const double z = first[i][2] - second[j][2];
      const double distance2 = x * x + y * y + z * z;
      if (distance2 <= radius * radius) all.emplace_back(distance2, i, j);
    }
  }
  std::sort(all.begin(), all.end());
  std::vector<bool> in_first(first.size());
  std::vector<bool> in_second(second.size());
  Indices pairs;
  for (const auto& [distance2, i, j] : all) {
    if (in_first[i] || in_second[j]) continue;
    in_first[i] = in_second[j] = true;
    pairs.emplace_back(i, j);
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Indices indices_of(const std::vector<MatchedPair>& pairs) {
  Indices indices;
  for (const auto& pair : pairs) indices.emplace_back(pair.first, pair.second);
  return indices;
}

Points in_square(std::mt19937& random, std::size_t count, double side, bool on_grid) {
  std::uniform_real_distribution<double> real(0, side);
  Points points;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = real(random);
    const double y = real(random);
    points.push_back(on_grid ? MatchPoint{std::floor(x), std::floor(y), 0} : MatchPoint{x, y, 0});
  }
  return points;
}

TEST(CrossMatch, IsTheNaiveMatchInPlanes) {
  std::mt19937 random(7);
  for (const double radius : {0.0, 0.3, 1.0, 5.0, 1000.0}) {
    for (const bool on_grid : {false, true}) {
      // On the grid most distances are equal, and many points are in one place.
      const auto first = in_square(random, 300, 12, on_grid);
      const auto second = in_square(random, 250, 12, on_grid);
      const auto found = cross_match(first, second, radius);
      EXPECT_EQ(indices_of(found), naive_match(first, second, radius)) << radius << on_grid;
      for (const auto& pair : found) {
        const auto& a = first[pair.first];
        const auto& b = second[pair.second];
        EXPECT_DOUBLE_EQ(pair.distance, std::hypot(a[0] - b[0], a[1] - b[1]));
      }
    }
  }
}

TEST(CrossMatch, IsTheNaiveMatchOnTheSphere) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal;
  const auto anywhere = [&](std::size_t count) {
    Points points;
    for (std::size_t i = 0; i < count; ++i) {
      const double x = normal(random);
      const double y = normal(random);
      const double z = normal(random);
      const double length = std::sqrt(x * x + y * y + z * z);
      points.push_back({x / length, y / length, z / length});
    }
    return points;
  };
  const auto first = anywhere(500);
  const auto second = anywhere(400);
  for (const double arcsec : {3600.0, 36'000.0, 648'000.0}) {
    const double radius = chord_of_arcsec(arcsec);
    EXPECT_EQ(indices_of(cross_match(first, second, radius)), naive_match(first, second, radius));
  }
}

TEST(CrossMatch, HasNoSeamAndNoPole) {
  const double arcsec = 1.0 / 3600;
  const Points first = {unit_vector(0.1 * arcsec, 10), unit_vector(20, 90 - arcsec),
                        unit_vector(180, -90), unit_vector(-30, 5)};
  const Points second = {unit_vector(123, -90), unit_vector(330, 5),
                         unit_vector(360 - 0.1 * arcsec, 10), unit_vector(200, 90 - arcsec)};
  const auto pairs = cross_match(first, second, chord_of_arcsec(2.5));
  EXPECT_EQ(indices_of(pairs), (Indices{{0, 2}, {1, 3}, {2, 0}, {3, 1}}));
  EXPECT_NEAR(kastor::io::arcsec_of_chord(pairs[0].distance),
              0.2 * std::cos(10 * std::acos(-1) / 180), 1e-9);
  EXPECT_NEAR(kastor::io::arcsec_of_chord(pairs[1].distance), 2, 1e-9);
  EXPECT_NEAR(kastor::io::arcsec_of_chord(pairs[2].distance), 0, 1e-9);
}

TEST(CrossMatch, TiesGoToTheSmallerIndices) {
  const Points one = {{0, 0, 0}};
  const Points around = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}};
  EXPECT_EQ(indices_of(cross_match(one, around, 1)), (Indices{{0, 0}}));
  EXPECT_EQ(indices_of(cross_match(around, one, 1)), (Indices{{0, 0}}));
  const Points same(3, {5, 5, 0});
  EXPECT_EQ(indices_of(cross_match(same, same, 0)), (Indices{{0, 0}, {1, 1}, {2, 2}}));
}

TEST(CrossMatch, GoesByTheCloserPairFirst) {
  // 0 is nearest to 1, which has a closer partner; what is left for it is farther away.
  const Points first = {{0, 0, 0}, {1.5, 0, 0}};
  const Points second = {{1, 0, 0}, {-2, 0, 0}};
  EXPECT_EQ(indices_of(cross_match(first, second, 3)), (Indices{{0, 1}, {1, 0}}));
  EXPECT_EQ(indices_of(cross_match(first, second, 1.9)), (Indices{{1, 0}}));
}

TEST(CrossMatch, TheRadiusBelongsToIt) {
  const Points first = {{0, 0, 0}};
  const Points second = {{3, 4, 0}};
  EXPECT_EQ(cross_match(first, second, 5).size(), 1u);
  EXPECT_EQ(cross_match(first, second, std::nextafter(5.0, 0)).size(), 0u);
}

TEST(CrossMatch, ManyRowsInOnePlaceTakeNoTime) {
  const Points first(200'000, {0, 0, 0});
  const Points second(100'000, {0, 0, 0});
  const auto pairs = cross_match(first, second, 1);
  ASSERT_EQ(pairs.size(), second.size());
  EXPECT_EQ(pairs.back().first, second.size() - 1);
  EXPECT_EQ(pairs.back().second, second.size() - 1);
}

TEST(CrossMatch, EmptyListsAndPointsThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Points points = {{0, 0, 0}, {nan, 0, 0}};
  EXPECT_TRUE(cross_match({}, {}, 1).empty());
  EXPECT_TRUE(cross_match(points, {}, 1).empty());
  EXPECT_TRUE(cross_match({}, points, 1).empty());
  EXPECT_EQ(indices_of(cross_match(points, points, 1)), (Indices{{0, 0}}));
  EXPECT_THROW((void)cross_match(points, points, -1), kastor::Error);
  EXPECT_THROW((void)cross_match(points, points, nan), kastor::Error);
}

TEST(Robust, MedianAndSpread) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(kastor::io::median_of({})));
  EXPECT_EQ(kastor::io::median_of({3}), 3);
  EXPECT_EQ(kastor::io::median_of({4, 1, 3, 2}), 2.5);
  const auto spread =
      kastor::io::robust_spread({1, 2, 3, 4, 100, inf, std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(spread.count, 5);
  EXPECT_EQ(spread.median, 3);
  EXPECT_NEAR(spread.sigma, 1.4826, 1e-4);
  EXPECT_EQ(kastor::io::robust_spread({}).count, 0);
  EXPECT_TRUE(std::isnan(kastor::io::robust_spread({}).sigma));
}

}  // namespace
