// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <io/catalogue/component_sources.hpp>
#include <string>
#include <vector>

#include "component_support.hpp"

namespace {

using namespace component_support;
using kastor::io::detail::component_sources;
using kastor::io::detail::ComponentSource;
using kastor::io::detail::FloodLevel;

/// A round one of 5 pixels; the noise is 0.1.
Component at(double x, double y, double peak = 1, std::int64_t island_id = 1, double width = 5) {
  Component c = ellipse(width, width, 0, peak, x, y);
  c.island_id = island_id;
  return c;
}

/// The ids and codes, as in "1S 2M 2M".
std::string joined(const Components& components, const FloodLevel& flood = {3, 0}) {
  std::string text;
  for (const auto& source : component_sources(components, flood)) {
    text += (text.empty() ? "" : " ") + std::to_string(source.id) + source.code;
    EXPECT_EQ(source.has_siblings,
              source.code != 'S' && std::count_if(components.begin(), components.end(),
                                                  [&](const Component& c) {
                                                    return c.island_id == components[0].island_id;
                                                  }) > 1)
        << text;
  }
  return text;
}

TEST(ComponentSources, HaveTheCodesOfPyBDSF) {
  EXPECT_EQ(joined({}), "");
  EXPECT_EQ(joined({at(10, 10)}), "1S");
  EXPECT_EQ(joined({at(10, 10), at(14, 10)}), "1M 1M");
  EXPECT_EQ(joined({at(10, 10), at(30, 10)}), "1C 2C");
  EXPECT_EQ(joined({at(10, 10), at(30, 10), at(34, 10)}), "1C 2M 2M");
  // Of another island, however near.
  const auto sources = component_sources(Components{at(10, 10, 1, 1), at(11, 10, 1, 2)}, {3, 0});
  EXPECT_EQ(sources[0].code, 'S');
  EXPECT_EQ(sources[1].code, 'S');
  EXPECT_EQ(sources[1].id, 2);
  EXPECT_FALSE(sources[0].has_siblings);
}

TEST(ComponentSources, AreNumberedByTheirFirstComponent) {
  EXPECT_EQ(joined({at(10, 10), at(40, 10), at(13, 10), at(43, 10)}), "1M 2M 1M 2M");
  // A chain, whose ends are far apart; its middle comes last.
  EXPECT_EQ(joined({at(10, 10), at(18, 10), at(40, 10), at(14, 10)}), "1M 1M 2C 1M");
}

TEST(ComponentSources, AreAsFarApartAsTheirWidthsAlongTheLine) {
  // Half the sum of the widths is 5; the noise is high, so that only the distance counts.
  EXPECT_EQ(joined({at(10, 10), at(15, 10)}, {100, 0}), "1M 1M");
  EXPECT_EQ(joined({at(10, 10), at(15.001, 10)}, {100, 0}), "1C 2C");
  EXPECT_EQ(joined({at(10, 10), at(16, 10, 1, 1, 7.1)}, {100, 0}), "1M 1M");
  EXPECT_EQ(joined({at(10, 10), at(16, 10, 1, 1, 6.9)}, {100, 0}), "1C 2C");
  // Ellipses of 9 x 4 at 30 deg: along the axes and across.
  const double c = std::cos(30 * testing_support::k_radian);
  const double s = std::sin(30 * testing_support::k_radian);
  const auto pair = [&](double along, double across) {
    return Components{
        ellipse(9, 4, 30, 1, 50, 50),
        ellipse(9, 4, 30, 1, 50 + along * c - across * s, 50 + along * s + across * c)};
  };
  EXPECT_EQ(joined(pair(8.99, 0), {100, 0}), "1M 1M");
  EXPECT_EQ(joined(pair(9.01, 0), {100, 0}), "1C 2C");
  EXPECT_EQ(joined(pair(0, 3.99), {100, 0}), "1M 1M");
  EXPECT_EQ(joined(pair(0, 4.01), {100, 0}), "1C 2C");
  EXPECT_EQ(joined({at(10, 10), at(10, 10)}), "1M 1M");
}

/// How far the model falls below the lower peak, at tenths of a percent of the line.
double dip_of(const Components& components) {
  const auto& g = components[0].gaussian;
  const auto& h = components[1].gaussian;
  double least = 1e9;
  for (int i = 0; i <= 1000; ++i) {
    const double x = g.x + (h.x - g.x) * i / 1000, y = g.y + (h.y - g.y) * i / 1000;
    double sum = 0;
    for (const auto& c : components) {
      const double s = c.gaussian.s(x, y), z = c.gaussian.z(y);
      sum += c.gaussian.peak * std::exp(-0.5 * (s * s + z * z));
    }
    least = std::min(least, sum);
  }
  return std::min(g.peak, h.peak) - least;
}

TEST(ComponentSources, AreApartWhereTheModelFallsByTheFlood) {
  // Of two with the same width, within that distance, the sum nowhere falls below the lower peak.
  EXPECT_LT(dip_of({at(10, 10, 30), at(14.9, 10.2, 20)}), 0);
  const Components pair = {at(10, 10, 30, 1, 10), at(15.4, 10.2, 20, 1, 1)};
  const double dip = dip_of(pair);
  ASSERT_GT(dip, 0.1);
  EXPECT_EQ(joined(pair, {1.01 * dip / 0.1, 0}), "1M 1M");
  EXPECT_EQ(joined(pair, {0.99 * dip / 0.1, 0}), "1C 2C");
  EXPECT_EQ(joined(pair, {99, 0.99 * dip}), "1C 2C");  // a level goes before
  // A third one fills the gap.
  Components filled = pair;
  filled.push_back(at(14.3, 10.15, 15));
  EXPECT_LT(dip_of(filled), 0);
  EXPECT_EQ(joined(filled, {0, 0}), "1M 1M 1M");
}

TEST(ComponentSources, OfNegativeIslandsAreTheirMirrorImage) {
  const Components pair = {at(10, 10, -30, 1, 10), at(15.4, 10.2, -20, 1, 1)};
  const Components mirrored = {at(10, 10, 30, 1, 10), at(15.4, 10.2, 20, 1, 1)};
  for (const double flood : {1.0, 100.0})
    EXPECT_EQ(joined(pair, {flood, 0}), joined(mirrored, {flood, 0}));
  EXPECT_EQ(joined({at(10, 10, 5), at(12, 10, -5)}), "1C 2C");
}

TEST(ComponentSources, RowsWithoutAPlaceAreAlone) {
  EXPECT_EQ(joined({at(NAN, 10), at(NAN, 10), at(10, 10, NAN)}), "1C 2C 3C");
}

TEST(ComponentSources, OfManyInOneIslandAreFound) {
  // A row of pairs, 20 pixels apart.
  Components many;
  for (int i = 0; i < 300; ++i) {
    many.push_back(at(20 * i, 10, 2));
    many.push_back(at(20 * i + 3, 10, 1));
  }
  const auto sources = component_sources(many, {3, 0});
  for (std::size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(sources[i].id, static_cast<std::int64_t>(i / 2) + 1);
    EXPECT_EQ(sources[i].code, 'M');
  }
}

}  // namespace
