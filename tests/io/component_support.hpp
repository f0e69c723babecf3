// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_IO_COMPONENT_SUPPORT_HPP
#define KASTOR_TESTS_IO_COMPONENT_SUPPORT_HPP

#include <array>
#include <cmath>
#include <kastor/component.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/io/component_table.hpp>
#include <random>
#include <utility>
#include <vector>

#include "island_support.hpp"
#include "island_table_support.hpp"

/// Components as a fit might return them.
namespace component_support {

using kastor::Component;
using kastor::Components;
using kastor::Gaussian;
using kastor::io::TableParams;

using Six = std::array<double, 6>;

inline Six parameters_of(const Gaussian& g) { return {g.peak, g.x, g.y, g.u, g.w, g.t}; }
inline Gaussian gaussian_with(const Six& p) { return {p[0], p[1], p[2], p[3], p[4], p[5]}; }

/// Rows of a lower triangular matrix: its product with its transpose is the covariance matrix.
inline std::array<Six, 6> factor_of(const Gaussian& g, double relative) {
  constexpr std::array<Six, 6> shape = {{{1, 0, 0, 0, 0, 0},
                                         {0.1, 0.8, 0, 0, 0, 0},
                                         {-0.2, 0.3, 1.1, 0, 0, 0},
                                         {0.5, 0.1, -0.1, 0.9, 0, 0},
                                         {-0.1, 0.2, 0.1, 0.3, 0.7, 0},
                                         {0.4, -0.1, 0.2, -0.2, 0.35, 1.2}}};
  const double length = 1 / std::sqrt(g.u * g.t);
  const Six scale = {std::abs(g.peak), length, length, g.u, g.u, g.t};
  auto factor = shape;
  for (std::size_t i = 0; i < 6; ++i) {
    for (auto& value : factor[i]) value *= relative * scale[i];
  }
  return factor;
}

/// A component with this Gaussian and correlated errors of the fraction given of its parameters.
inline Component component_of(const Gaussian& gaussian, double relative = 0.01, std::int64_t id = 1,
                              std::int64_t island_id = 1) {
  Component c{};
  c.id = id;
  c.island_id = island_id;
  c.gaussian = gaussian;
  const auto factor = factor_of(gaussian, relative);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      for (std::size_t k = 0; k < 6; ++k) c.covariance[6 * i + j] += factor[i][k] * factor[j][k];
    }
  }
  c.rms = 0.1;
  c.background = 0.025;
  c.chi_squared = 41.5;
  c.residual_rms = 0.09;
  c.n_pix = 47;
  c.group_id = id;
  c.group_size = 1;
  c.iterations = 5;
  return c;
}

inline Component ellipse(double major, double minor, double degrees, double peak = 2, double x = 59,
                         double y = 59, double relative = 0.01) {
  return component_of(
      kastor::gaussian_of({major, minor, degrees * testing_support::k_radian}, peak, x, y),
      relative);
}

/// The same component with its shape fixed, as a point of the size of the beam.
inline Component fixed_shape(Component c) {
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      if (i >= kastor::at_u || j >= kastor::at_u) c.covariance[6 * i + j] = 0;
    }
  }
  c.flags |= kastor::component_beam_shape;
  return c;
}

inline TableParams params_of(double major_arcsec, double minor_arcsec = 10, double angle = 0,
                             const char* unit = "Jy/beam") {
  TableParams params;
  params.beam = testing_support::beam_of(major_arcsec, minor_arcsec, angle);
  params.unit = unit;
  return params;
}

inline kastor::io::ComponentTable table_on(const testing_support::Header& header,
                                           const Components& components, TableParams params) {
  const kastor::io::Wcs wcs = header.wcs();
  params.wcs = &wcs;
  return kastor::io::component_table(components, params);
}

/// A draw of the parameters from their covariance matrix.
class Draws {
 public:
  Draws(const Component& component, double relative)
      : m_component(component), m_factor(factor_of(component.gaussian, relative)) {}
  Component operator()() {
    Six p = parameters_of(m_component.gaussian);
    Six normal{};
    for (auto& value : normal) value = m_normal(m_bits);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k < 6; ++k) p[i] += m_factor[i][k] * normal[k];
    }
    Component drawn = m_component;
    drawn.gaussian = gaussian_with(p);
    return drawn;
  }

 private:
  Component m_component;
  std::array<Six, 6> m_factor;
  std::mt19937_64 m_bits{20240229};
  std::normal_distribution<double> m_normal;
};

}  // namespace component_support

#endif
