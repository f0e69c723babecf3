// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_SCENE_HPP
#define KASTOR_SIMULATE_SCENE_HPP

#include <kastor/simulate.hpp>

#include "core/elementary.hpp"

/// What varies over the image. Host and device compute it by the same functions, so that truth
/// tables have the numbers of the image.
namespace kastor::detail {

struct Scene {
  SkyParams params;

  [[nodiscard]] KOKKOS_FUNCTION double level(double x, double y) const {
    return params.level + params.level_gradient_x * (x - middle(params.nx)) +
           params.level_gradient_y * (y - middle(params.ny));
  }

  /// Sensitivity to a source, 1 in the middle.
  [[nodiscard]] KOKKOS_FUNCTION double sensitivity(double x, double y) const {
    if (params.primary_beam.fwhm <= 0) return 1;
    const double dx = (x - middle(params.nx)) / params.primary_beam.fwhm;
    const double dy = (y - middle(params.ny)) / params.primary_beam.fwhm;
    constexpr double four_ln2 = 2.7725887222397811;
    return core::exp(-four_ln2 * (dx * dx + dy * dy));
  }

  /// The lowest level and sensitivity of the image: those of a corner.
  [[nodiscard]] double lowest_level() const {
    const auto x = static_cast<double>(params.nx - 1);
    const auto y = static_cast<double>(params.ny - 1);
    return Kokkos::min(Kokkos::min(level(0, 0), level(x, 0)),
                       Kokkos::min(level(0, y), level(x, y)));
  }
  [[nodiscard]] double lowest_sensitivity() const { return sensitivity(0, 0); }

  /// By which factor a source appears fainter than it is.
  [[nodiscard]] KOKKOS_FUNCTION double attenuation(double x, double y) const {
    return params.primary_beam.corrected ? 1 : sensitivity(x, y);
  }

  /// The noise over that of the middle.
  [[nodiscard]] KOKKOS_FUNCTION double noise_factor(double x, double y) const {
    const double width = params.nx > 1 ? middle(params.nx) : 1;
    const double factor = 1 + params.noise_gradient * (x - middle(params.nx)) / width;
    return params.primary_beam.corrected ? factor / sensitivity(x, y) : factor;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool has_even_noise() const {
    return params.noise_gradient == 0 &&
           (params.primary_beam.fwhm <= 0 || !params.primary_beam.corrected);
  }
  [[nodiscard]] KOKKOS_FUNCTION bool has_level() const {
    return params.level != 0 || params.level_gradient_x != 0 || params.level_gradient_y != 0;
  }

  /// Whether the pixel that holds this position is in the image and has data.
  [[nodiscard]] KOKKOS_FUNCTION bool is_observed(double at_x, double at_y) const {
    const double x = Kokkos::floor(at_x + 0.5);
    const double y = Kokkos::floor(at_y + 0.5);
    const auto nx = static_cast<double>(params.nx);
    const auto ny = static_cast<double>(params.ny);
    if (x < 0 || y < 0 || x >= nx || y >= ny) return false;
    const double shorter = nx < ny ? nx : ny;
    switch (params.unobserved.where) {
      case Unobserved::Where::outside_circle: {
        const double dx = x - middle(params.nx);
        const double dy = y - middle(params.ny);
        return 4 * (dx * dx + dy * dy) <= shorter * shorter;
      }
      case Unobserved::Where::border: {
        const double wide = shorter / 8;
        return x >= wide && y >= wide && x <= nx - 1 - wide && y <= ny - 1 - wide;
      }
      case Unobserved::Where::half:
        return x < middle(params.nx);
      case Unobserved::Where::nowhere:
        break;
    }
    return true;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static double middle(std::int64_t n) {
    return 0.5 * static_cast<double>(n - 1);
  }
};

}  // namespace kastor::detail

#endif
