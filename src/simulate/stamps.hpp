// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_STAMPS_HPP
#define KASTOR_SIMULATE_STAMPS_HPP

#include <cstdint>
#include <kastor/simulate.hpp>
#include <vector>

#include "core/elementary.hpp"

namespace kastor::detail {

/// A profile over a box.
struct Stamp {
  enum class Kind {
    separable,  ///< a circular Gaussian: profile(y) x profile(x)
    gaussian,   ///< elliptical
    moffat,
    radial  ///< interpolated in a table
  };
  Kind kind;
  std::int64_t x_min, x_max, y_min, y_max;
  /// Indices into the table of profiles: of the two that are separable, or of the radial one.
  std::int64_t x_profile, y_profile;
  double x, y, peak;
  double xx, xy, yy;  ///< gaussian: the exponent; moffat: xx = 1 / a^2; radial: xx = 1 / step

  /// But for a separable one.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(const double* profiles, std::int64_t column,
                                                  std::int64_t row) const {
    const double dx = static_cast<double>(column) - x;
    const double dy = static_cast<double>(row) - y;
    if (kind == Kind::gaussian)
      return peak * core::exp(-(xx * dx * dx + xy * dx * dy + yy * dy * dy));
    const double square = dx * dx + dy * dy;
    if (kind == Kind::moffat) {
      const double base = 1 + square * xx;
      return peak / (base * base * base * Kokkos::sqrt(base));
    }
    return peak * interpolated(profiles + x_profile, Kokkos::sqrt(square) * xx);
  }

 private:
  /// The cubic through four values of a radial table.
  [[nodiscard]] KOKKOS_FUNCTION double interpolated(const double* table, double steps) const {
    const auto i = static_cast<std::int64_t>(steps);
    if (i >= y_profile) return 0;  // the number of intervals
    const double u = steps - static_cast<double>(i);
    const double* f = table + i;
    return f[0] * (-u * (u - 1) * (u - 2) / 6) + f[1] * ((u + 1) * (u - 1) * (u - 2) / 2) +
           f[2] * (-(u + 1) * u * (u - 2) / 2) + f[3] * ((u + 1) * u * (u - 1) / 6);
  }
};

/// The stamps of all sources that cross some rows, and those that cross each of these rows, in the
/// order of the sources.
struct Stamps {
  std::vector<Stamp> stamps;
  std::vector<double> profiles;
  std::vector<std::int64_t>
      first_of_row;  ///< for each row and one more, indices into `sources_of_row`
  std::vector<std::int64_t> sources_of_row;  ///< indices of stamps, row after row
};

/// The rows `first_row` to `first_row + rows - 1`; stamps are cut at their borders.
[[nodiscard]] Stamps make_stamps(const SkyParams& params, const std::vector<TrueSource>& truth,
                                 std::int64_t first_row, std::int64_t rows);

/// The memory of these [byte], at most, if the sources are spread evenly over the sky.
[[nodiscard]] std::int64_t stamp_bytes(const SkyParams& params,
                                       const std::vector<TrueSource>& truth, std::int64_t rows);

}  // namespace kastor::detail

#endif
