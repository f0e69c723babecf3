// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <kastor/io/unit_ratio.hpp>
#include <numbers>

namespace {

using kastor::io::unit_ratio;

struct Case {
  const char* from;
  const char* to;
  int power;
  double times, by;  // 0: of another kind
};

// 1 sr in arcsec2.
constexpr double k_side = 648'000.0 / std::numbers::pi;

TEST(UnitRatio, BringsValuesFromOneUnitToAnother) {
  for (const Case& c : {Case{"Jy/beam", "JY/BEAM", 1, 1, 1},
                        {"mJy/beam", "Jy/beam", 1, 1, 1e3},
                        {"Jy beam-1", "uJy/beam", 1, 1e6, 1},
                        {"10**-3 Jy/beam", "mJy/beam", 1, 1, 1},
                        {"MJy/sr", "MJY/SR", 1, 1, 1},
                        {"MJy/sr", "Jy/arcsec2", 1, 1e6, k_side * k_side},
                        {"Jy/arcmin2", "Jy/arcsec2", 1, 1, 3600},
                        {"mK", "K", 1, 1, 1e3},
                        {"counts", "ct", 1, 1, 1},
                        {"counts/s", "ct s-1", 1, 1, 1},
                        {"DN", "DN", 1, 1, 1},
                        {"MJY/BEAM", "MJY/BEAM", 1, 1, 1},
                        // Variances and weights.
                        {"(Jy/beam)**2", "Jy/beam", 2, 1, 1},
                        {"Jy2/beam2", "JY/BEAM", 2, 1, 1},
                        {"mJy^2 beam^-2", "Jy/beam", 2, 1, 1e6},
                        {"MJy2 / sr2", "MJy/sr", 2, 1, 1},
                        {"(DN)**2", "DN", 2, 1, 1},
                        {"DN^2", "DN", 2, 1, 1},
                        {"(DN/s)^2", "DN / s", 2, 1, 1},
                        {"mJy2/sr2", "MJy/sr", 2, 1, 1e18},
                        {"arcmin2", "deg2", 1, 3600, 3600.0 * 3600},
                        {"1/(Jy/beam)**2", "Jy/beam", -2, 1, 1},
                        {"(mJy/beam)**-2", "Jy/beam", -2, 1e6, 1},
                        {"beam2/Jy2", "mJy/beam", -2, 1, 1e6},
                        {"1/DN**2", "DN", -2, 1, 1},
                        // Other kinds.
                        {"counts", "Jy/beam", 1, 0, 0},
                        {"Jy", "Jy/beam", 1, 0, 0},
                        {"Jy/pixel", "Jy/beam", 1, 0, 0},
                        {"K", "Jy/beam", 1, 0, 0},
                        {"DN", "dn", 1, 0, 0},
                        {"MJY/BEAM", "mJy/beam", 1, 0, 0},
                        {"Jy/beam", "Jy/beam", 2, 0, 0},
                        {"(Jy/beam)**2", "Jy/beam", 1, 0, 0},
                        {"(Jy/beam)**2", "Jy/beam", -2, 0, 0},
                        {"Jy/beam**2", "Jy/beam", 2, 0, 0},
                        {"DN/s**2", "DN/s", 2, 0, 0},
                        {"", "Jy/beam", 1, 0, 0}}) {
    SCOPED_TRACE(testing::Message() << "'" << c.from << "' in '" << c.to << "'^" << c.power);
    const auto ratio = unit_ratio(c.from, c.to, c.power);
    ASSERT_EQ(ratio.has_value(), c.times > 0);
    if (!ratio) continue;
    EXPECT_DOUBLE_EQ(ratio->times / ratio->by, c.times / c.by);
    if (c.times != 1 && c.by != 1) continue;
    EXPECT_EQ(ratio->times, c.times);  // rounded once
    EXPECT_EQ(ratio->by, c.by);
  }
}

TEST(UnitRatio, RoundsOnce) {
  const auto ratio = unit_ratio("mJy/beam", "Jy/beam");
  ASSERT_TRUE(ratio);
  for (int i = 1; i < 1000; ++i) EXPECT_EQ((*ratio)(i), i / 1000.0);
}

TEST(UnitRatio, PowersAndScalesHaveLimits) {
  for (const char* unit : {"10**-2147483648 Jy/beam", "Jy**-2147483648", "Jy**-10",
                           "((((Jy9)9)9)9)", "((Jy9)9)-2", "1e-400 Jy", "1e400 Jy"})
    EXPECT_FALSE(kastor::io::unit_ratio(unit, "Jy")) << unit;
  EXPECT_FALSE(kastor::io::unit_ratio("Jy2", "1.5e-300 Jy", 2));
  EXPECT_TRUE(kastor::io::unit_ratio("((Jy3)3)", "Jy", 9));
}

}  // namespace
