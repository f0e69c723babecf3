// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <kastor/io/island_hash.hpp>
#include <limits>

namespace {

using kastor::Island;
using kastor::io::island_hash;

const double k_nan = std::numeric_limits<double>::quiet_NaN();

Island first_island() {
  Island island{};
  island.id = 1;
  island.n_pix = 12;
  island.x_min = 3;
  island.x_max = 7;
  island.y_min = 1;
  island.y_max = 5;
  island.x_peak = 4;
  island.y_peak = 2;
  island.flux_peak = 2.5;
  island.flux_sum = 10.25;
  island.raw_sum = 12.75;
  island.snr_peak = 31;
  island.x_cen = 4.125;
  island.y_cen = 2.5;
  island.var_xx = 1.5;
  island.var_xy = -0.25;
  island.var_yy = 0.75;
  island.background = 0.125;
  island.rms = 0.0625;
  island.rms_at_peak = 0.078125;
  island.background_at_peak = 0.1875;
  island.flags = 2;
  return island;
}

/// What is at the ends of its type, or is no number.
Island second_island() {
  Island island{};
  island.id = 2;
  island.n_pix = 9007199254740993;
  island.x_min = std::numeric_limits<std::int32_t>::min();
  island.x_max = std::numeric_limits<std::int32_t>::max();
  island.x_peak = 1 << 30;
  island.y_peak = -1;
  island.flux_peak = -2.5;
  island.flux_sum = -0.0;
  island.raw_sum = 1e308;
  island.snr_peak = 5e-324;
  island.x_cen = island.y_cen = island.var_xx = island.var_xy = island.var_yy = k_nan;
  island.background = 0.1;
  island.rms = 0.2;
  island.rms_at_peak = 0.3;
  island.background_at_peak = std::numeric_limits<double>::infinity();
  island.flags = 4 + 8 + 16;
  return island;
}

// The digests were computed with Python's hashlib: sha256 over struct.pack("<8q13dq", ...) of each
// island, in the order of the members above, with a NaN packed as "<Q" 0x7ff8000000000000.
TEST(IslandHash, IsTheDigestOfTheMembersInTheirOrder) {
  EXPECT_EQ(island_hash({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(island_hash({first_island()}),
            "c8926fb6f22df65b559d160f800c45fd64485f940608f65d2a689d3cdcb9fb1c");
  EXPECT_EQ(island_hash({first_island(), second_island()}),
            "92c64b7dd5dc13d8dd13e83995bf5dfaf71ce844809766ceff1681c9d52fcbdb");
}

TEST(IslandHash, TheHighestFlagIsNoSign) {
  Island island = second_island();
  island.flags = 0x80000000U;
  EXPECT_EQ(island_hash({island}),
            "7a4fa12a35d8dc5f5247e062932e8f975b9ddd17cde8d596cba397483fba8fc4");
}

TEST(IslandHash, EveryNanCountsAsTheSame) {
  const auto wanted = island_hash({second_island()});
  for (const std::uint64_t bits : {0x7ff8000000000001U, 0xfff8000000000000U, 0x7ff4000000000000U,
                                   0xffffffffffffffffU, 0x7ff0000000000001U}) {
    Island island = second_island();
    island.x_cen = island.y_cen = island.var_xx = std::bit_cast<double>(bits);
    EXPECT_EQ(island_hash({island}), wanted) << std::hex << bits;
  }
}

}  // namespace
