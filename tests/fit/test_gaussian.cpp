// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <kastor/gaussian.hpp>
#include <numbers>

namespace kastor {
namespace {

double value_at(const Gaussian& g, double x, double y) {
  const double s = g.s(x, y);
  const double z = g.z(y);
  return g.peak * std::exp(-(s * s + z * z) / 2);
}

TEST(Gaussian, IsHalfItsPeakAtHalfItsWidths) {
  for (const double angle : {0.0, 0.3, 1.2, std::numbers::pi / 2, 2.5, 3.1}) {
    const PixelEllipse ellipse{7, 3, angle};
    const Gaussian g = gaussian_of(ellipse, 10, 4, -2);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    EXPECT_NEAR(value_at(g, 4 + 3.5 * c, -2 + 3.5 * s), 5, 1e-12) << angle;
    EXPECT_NEAR(value_at(g, 4 - 1.5 * s, -2 + 1.5 * c), 5, 1e-12) << angle;
    EXPECT_NEAR(value_at(g, 4, -2), 10, 1e-12);
  }
}

TEST(Gaussian, AndItsEllipseAreInverse) {
  for (const double angle : {0.0, 0.3, 1.2, std::numbers::pi / 2, 2.5, 3.1}) {
    for (const double minor : {7.0 * 0.999, 3.0, 0.01}) {
      const PixelEllipse back = ellipse_of(gaussian_of({7, minor, angle}));
      EXPECT_NEAR(back.major, 7, 1e-9);
      EXPECT_NEAR(back.minor, minor, 1e-9);
      EXPECT_NEAR(std::remainder(back.angle - angle, std::numbers::pi), 0, 1e-9);
      EXPECT_GE(back.angle, 0);
      EXPECT_LT(back.angle, std::numbers::pi);
    }
  }
  const PixelEllipse circle = ellipse_of(gaussian_of({5, 5, 1}));
  EXPECT_NEAR(circle.major, 5, 1e-12);
  EXPECT_NEAR(circle.minor, 5, 1e-12);
}

TEST(Gaussian, TheVolumeIsTheSumOfItsPixels) {
  const PixelEllipse ellipse{6, 4, 0.7};
  const Gaussian g = gaussian_of(ellipse, 2, 0.3, -0.2);
  double sum = 0;
  for (int y = -30; y <= 30; ++y) {
    for (int x = -30; x <= 30; ++x) sum += value_at(g, x, y);
  }
  EXPECT_NEAR(sum, volume_of(g), 1e-9);
  EXPECT_NEAR(2 * area_of(ellipse), volume_of(g), 1e-12);
}

}  // namespace
}  // namespace kastor
