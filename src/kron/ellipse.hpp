// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KRON_ELLIPSE_HPP
#define KASTOR_KRON_ELLIPSE_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <kastor/island.hpp>

namespace kastor::detail {

/// Integers from `first` to `last`; none if `last` is smaller.
struct PixelSpan {
  std::int64_t first = 0, last = -1;

  PixelSpan() = default;
  /// Those from `low` to `high` and one more at each end, within 0 and n - 1.
  KOKKOS_FUNCTION PixelSpan(double low, double high, std::int64_t n) {
    const auto limit = static_cast<double>(n);
    const double from = Kokkos::ceil(low) - 1;
    const double to = Kokkos::floor(high) + 1;
    if (!(from < limit) || !(to >= 0)) return;
    first = from > 0 ? static_cast<std::int64_t>(from) : 0;
    last = to < limit ? static_cast<std::int64_t>(to) : n;
    if (last > n - 1) last = n - 1;
  }
};

/// The ellipse of the second moments of an island: r = 1 is one standard deviation.
struct LightEllipse {
  double x, y;           ///< centre [pixel]
  double xx, yy;         ///< moments [pixel^2]
  double cxx, cxy, cyy;  ///< r^2 = cxx dx^2 + cxy dx dy + cyy dy^2
  std::uint32_t label;   ///< of the island; 0: it has no ellipse
  std::uint32_t is_below;

  LightEllipse() = default;
  LightEllipse(const Island& island, std::uint32_t own_label)
      : x(island.x_cen),
        y(island.y_cen),
        xx(island.var_xx),
        yy(island.var_yy),
        label(own_label),
        is_below((island.flags & island_negative) != 0 ? 1U : 0U) {
    double determinant = xx * yy - island.var_xy * island.var_xy;
    if (determinant < 1.0 / 144) {
      xx += 1.0 / 12;
      yy += 1.0 / 12;
      determinant = xx * yy - island.var_xy * island.var_xy;
    }
    cxx = yy / determinant;
    cyy = xx / determinant;
    cxy = -2 * island.var_xy / determinant;
    const bool is_known = (island.flags & island_no_centre) == 0 && determinant > 0 &&
                          std::isfinite(x) && std::isfinite(y) && std::isfinite(cxx) &&
                          std::isfinite(cyy) && std::isfinite(cxy);
    if (!is_known) label = 0;
  }

  [[nodiscard]] KOKKOS_FUNCTION double squared_radius(std::int64_t at_y, std::int64_t at_x) const {
    const double dx = static_cast<double>(at_x) - x;
    const double dy = static_cast<double>(at_y) - y;
    return cxx * dx * dx + cyy * dy * dy + cxy * dx * dy;
  }
  /// The rows of the image that the ellipse of radius k may touch.
  [[nodiscard]] KOKKOS_FUNCTION PixelSpan rows(double k, std::int64_t ny) const {
    const double half = k * Kokkos::sqrt(yy);
    return {y - half, y + half, ny};
  }
  /// The columns that it may touch in one row.
  [[nodiscard]] KOKKOS_FUNCTION PixelSpan columns(double k, std::int64_t row,
                                                  std::int64_t nx) const {
    const double dy = static_cast<double>(row) - y;
    const double middle = x - cxy * dy / (2 * cxx);
    const double left = (k * k - cyy * dy * dy + cxy * cxy * dy * dy / (4 * cxx)) / cxx;
    const double half = left > 0 ? Kokkos::sqrt(left) : 0;
    return {middle - half, middle + half, nx};
  }
  /// Whether a part of it lies beyond the centres of the outermost pixels by half a pixel or more.
  [[nodiscard]] KOKKOS_FUNCTION bool is_cut(double k, std::int64_t ny, std::int64_t nx) const {
    const double half_x = k * Kokkos::sqrt(xx);
    const double half_y = k * Kokkos::sqrt(yy);
    return x - half_x < -0.5 || y - half_y < -0.5 || x + half_x > static_cast<double>(nx) - 0.5 ||
           y + half_y > static_cast<double>(ny) - 0.5;
  }
};

}  // namespace kastor::detail

#endif
