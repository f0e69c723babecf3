// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "core/raster_walk.hpp"

namespace {

/// Every place once by the steps of all threads, whatever the step.
TEST(RasterWalk, VisitsItsShare) {
  for (const std::int64_t width : {1, 2, 5, 64, 1000}) {
    for (const std::int64_t step : {1, 2, 3, 64, 100, 5000}) {
      for (const std::int64_t first : {std::int64_t{0}, step / 2, step - 1}) {
        kastor::core::RasterWalk<> walk(first, step, width);
        for (std::int64_t i = first; i < 3000; i += step) {
          ASSERT_EQ(walk.y(), i / width) << width << ' ' << step << ' ' << i;
          ASSERT_EQ(walk.x(), i % width) << width << ' ' << step << ' ' << i;
          walk.step();
        }
      }
    }
  }
  // Beyond 2^32.
  constexpr std::int64_t width = 100003, step = 7000000001, first = 5000000000;
  kastor::core::RasterWalk<> walk(first, step, width);
  for (std::int64_t i = first; i < first + 10 * step; i += step) {
    EXPECT_EQ(walk.y(), i / width);
    EXPECT_EQ(walk.x(), i % width);
    walk.step();
  }
}

}  // namespace
