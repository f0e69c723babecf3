// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fit/forced_groups.hpp"

namespace {

using kastor::Gaussian;
using kastor::PixelEllipse;

const PixelEllipse beam{5, 3.5, 0.6};

TEST(ForcedGroups, JoinsWhatTouches) {
  const auto at = [](double x, double y) { return kastor::gaussian_of({4, 4, 0}, 1, x, y); };
  const std::vector<Gaussian> list = {at(10, 10), at(40, 40), at(17.9, 10), at(40, 48.1),
                                      at(25.8, 10)};
  const auto groups = kastor::detail::forced_groups(list, 1, 64);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].core, (std::vector<std::int32_t>{0, 2, 4}));
  EXPECT_EQ(groups[1].core, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(groups[2].core, (std::vector<std::int32_t>{3}));
  EXPECT_TRUE(groups[0].halo.empty() && groups[0].fixed.empty() && !groups[0].is_split);
  // Along their major axes ellipses reach further.
  const auto long_at = [](double x, double y) { return kastor::gaussian_of({8, 4, 0}, 1, x, y); };
  EXPECT_TRUE(kastor::detail::ellipses_touch(long_at(0, 0), long_at(15.9, 0), 1));
  EXPECT_FALSE(kastor::detail::ellipses_touch(long_at(0, 0), long_at(0, 8.1), 1));
  EXPECT_TRUE(kastor::detail::ellipses_touch(long_at(0, 0), at(11.9, 0), 1));
  EXPECT_FALSE(kastor::detail::ellipses_touch(long_at(0, 0), at(12.1, 0), 1));
}

TEST(ForcedGroups, SplitsWhatIsTooLarge) {
  std::vector<Gaussian> list;
  for (int i = 0; i < 300; ++i)
    list.push_back(kastor::gaussian_of({4, 4, 0}, 1, 3.0 * (i % 60), 3.0 * (i / 60)));
  const auto groups = kastor::detail::forced_groups(list, 1, 32);
  std::vector<int> seen(list.size());
  for (const auto& group : groups) {
    EXPECT_TRUE(group.is_split);
    EXPECT_LE(group.core.size(), 16U);
    EXPECT_LE(group.core.size() + group.halo.size(), 32U);
    EXPECT_FALSE(group.fixed.empty());
    for (const auto i : group.core) ++seen[static_cast<std::size_t>(i)];
    for (const auto i : group.halo)
      EXPECT_EQ(std::count(group.core.begin(), group.core.end(), i), 0);
    for (const auto i : group.fixed) {
      EXPECT_EQ(std::count(group.core.begin(), group.core.end(), i), 0);
      EXPECT_EQ(std::count(group.halo.begin(), group.halo.end(), i), 0);
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
}

TEST(ForcedGroups, FindsRepeatedPlaces) {
  const auto at = [](double x, const PixelEllipse& shape = beam) {
    return kastor::gaussian_of(shape, 1, x, 7);
  };
  const std::vector<Gaussian> list = {at(1), at(2), at(1 + 1e-5), at(1, {6, 3.5, 0.6}),
                                      at(2), at(1)};
  EXPECT_EQ(kastor::detail::first_at_place(list), (std::vector<std::int32_t>{0, 1, 0, 3, 1, 0}));
}

}  // namespace
