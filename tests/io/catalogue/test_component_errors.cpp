// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <io/catalogue/component_shape.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/wcs.hpp>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "component_support.hpp"
#include "island_support.hpp"
#include "island_table_support.hpp"

/// The errors of components: propagated by formulas in the table, and here by differences and by
/// draws.
namespace {

using namespace component_support;
using kastor::io::component_table;
using kastor::io::component_unresolved;
using kastor::io::Table;
using kastor::io::Wcs;
using testing_support::Header;
using testing_support::k_fwhm;
using testing_support::k_nan;
using testing_support::real_value;

std::vector<std::pair<const char*, Header>> skies() {
  const char *ra = "RA---TAN", *dec = "DEC--TAN";
  const double c = 2 * std::cos(0.7), s = 2 * std::sin(0.7);
  return {{"plain", {ra, dec, 150, 2, 60, 60, -2, 0, 0, 2}},
          {"rotated", {ra, dec, 150, 2, 60, 60, -c, s, s, c}},
          {"oblong", {ra, dec, 150, 2, 60, 60, -1.5, 0, 0, 2.5}},
          {"skewed", {ra, dec, 150, 40, 60, 60, 1.7, 0.6, -0.4, 2.4}},
          {"sin", {"RA---SIN", "DEC--SIN", 150, -45, 60, 60, 1.7, 0.6, -0.4, 2.4}},
          {"galactic", {"GLON-CAR", "GLAT-CAR", 0.5, 0, 101, 2001, -2, 0, 0, 2}}};
}

/// What the columns of a component are by their derivatives: g^T C g.
class Differences {
 public:
  Differences(const Component& component, const Wcs* wcs, TableParams params)
      : m_component(component), m_params(std::move(params)) {
    m_params.wcs = wcs;
    Components moved;
    const Six at = parameters_of(component.gaussian);
    for (std::size_t i = 0; i < 6; ++i) {
      m_step[i] = 0.05 * std::sqrt(component.covariance[7 * i]);
      for (const double sign : {1.0, -1.0}) {
        Six p = at;
        p[i] += sign * m_step[i];
        moved.push_back(component);
        moved.back().gaussian = gaussian_with(p);
      }
    }
    m_table = component_table(moved, m_params).table;
  }
  /// \param period  of an angle
  [[nodiscard]] double error_of(const std::string& name, double period = 0) const {
    Six slope{};
    for (std::size_t i = 0; i < 6; ++i) {
      double change = real_value(m_table, name, 2 * i) - real_value(m_table, name, 2 * i + 1);
      if (period > 0) change = std::remainder(change, period);
      slope[i] = change / (2 * m_step[i]);
    }
    double variance = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j)
        variance += slope[i] * m_component.covariance[6 * i + j] * slope[j];
    }
    return std::sqrt(variance);
  }

 private:
  Component m_component;
  TableParams m_params;
  Six m_step{};
  Table m_table;
};

TEST(ComponentErrors, AreThoseOfDifferences) {
  for (const auto& [what, header] : skies()) {
    const Wcs wcs = header.wcs();
    for (const double angle : {20.0, 90.0, 155.0}) {
      const Component component = ellipse(9, 6.5, angle, 2, 61.3, 58.8, 1e-3);
      auto params = params_of(8, 6, 35);
      const Differences by(component, &wcs, params);
      params.wcs = &wcs;
      const auto table = component_table({component}, params).table;
      const auto expect_error = [&](const char* name, double period = 0) {
        const double error = real_value(table, name + std::string("_err"));
        EXPECT_NEAR(error, by.error_of(name, period), 2e-5 * error) << what << angle << name;
        EXPECT_GT(error, 0) << name;
      };
      for (const char* name :
           {"flux_peak", "flux_int", "x_cen", "y_cen", "maj_axis", "min_axis", "maj_axis_pix",
            "min_axis_pix", "maj_axis_deconv", "min_axis_deconv"})
        expect_error(name);
      for (const char* name : {"pos_ang", "pos_ang_pix", "pos_ang_deconv"}) expect_error(name, 180);
    }
  }
}

TEST(ComponentErrors, OfPositionsGoThroughTheSky) {
  for (const auto& [what, header] : skies()) {
    const Wcs wcs = header.wcs();
    const Component component = ellipse(9, 6.5, 20, 2, 61.3, 58.8, 1e-3);
    auto params = params_of(8, 6, 35);
    const Differences by(component, &wcs, params);
    params.wcs = &wcs;
    const auto table = component_table({component}, params).table;
    const double dec = real_value(table, "dec_deg_cont") * testing_support::k_radian;
    const double east = by.error_of("ra_deg_cont", 360) * std::cos(dec) * 3600;
    EXPECT_NEAR(real_value(table, "ra_err"), east, 1e-4 * east) << what;
    const double north = by.error_of("dec_deg_cont") * 3600;
    EXPECT_NEAR(real_value(table, "dec_err"), north, 1e-4 * north) << what;
    EXPECT_EQ(real_value(table, "cov_xy"), component.covariance[6 + 2]);
  }
}

/// Mean and standard deviation of a column.
std::pair<double, double> spread_in(const Table& table, const char* name) {
  double sum = 0, square = 0;
  const auto& values =
      std::get<std::vector<double>>(testing_support::find_column(table, name)->values);
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  for (const double value : values) square += (value - mean) * (value - mean);
  return {mean, std::sqrt(square / static_cast<double>(values.size()))};
}

TEST(ComponentErrors, OfDeconvolvedAxesAreThoseOfDraws) {
  constexpr double relative = 0.01;
  const Header header{"RA---TAN", "DEC--TAN", 150, 40, 60, 60, 1.7, 0.6, -0.4, 2.4};
  const Component component = ellipse(9, 6.5, 20, 2, 61.3, 58.8, relative);
  Draws draw(component, relative);
  Components drawn(20'000);
  std::int64_t island = 0;  // one for each: the sources of an island are found pair by pair
  for (auto& each : drawn) {
    each = draw();
    each.island_id = ++island;
  }
  const auto params = params_of(8, 6, 35);
  const auto table = table_on(header, {component}, params).table;
  const auto of_draws = table_on(header, drawn, params).table;
  for (const std::string name : {"maj_axis_deconv", "min_axis_deconv", "pos_ang_deconv", "maj_axis",
                                 "min_axis", "flux_int"}) {
    const auto [mean, scatter] = spread_in(of_draws, name.c_str());
    const double error = real_value(table, name + "_err");
    EXPECT_NEAR(error, scatter, 0.03 * scatter) << name;
    EXPECT_NEAR(real_value(table, name), mean, 0.05 * scatter) << name;
  }
}

// ---------------------------------------------------------------------------- deconvolution

TEST(Deconvolution, OfWhatIsKnownExactly) {
  const Header
      header;  // pixels of 2 arcsec, x to the west: a pixel angle of a is 90 + a, or a - 90
  const struct {
    Component component;
    TableParams params;
    double major, minor, angle;
  } cases[] = {
      // Round in round.
      {ellipse(5, 5, 0), params_of(6, 6), 8, 8, k_nan},
      // Aligned: the squares are those of the axes.
      {ellipse(6.5, 5, 90), params_of(5, 8, 0), std::sqrt(169 - 25), std::sqrt(100 - 64), 0},
      {ellipse(6.5, 5, 0), params_of(5, 8, 90), std::sqrt(169 - 25), std::sqrt(100 - 64), 90},
      // Only along one axis.
      {ellipse(6.5, 5, 90), params_of(10, 10, 0), std::sqrt(169 - 100), 0, 0},
      // Narrower than the beam.
      {ellipse(4, 4, 0), params_of(10, 10), 0, 0, k_nan}};
  for (const auto& each : cases) {
    const auto table = table_on(header, {each.component}, each.params).table;
    EXPECT_NEAR(real_value(table, "maj_axis_deconv"), each.major, 1e-4) << each.major;
    EXPECT_NEAR(real_value(table, "min_axis_deconv"), each.minor, 1e-4) << each.major;
    EXPECT_EQ(real_value(table, "maj_axis_deconv_err") > 0, each.major > 0);
    EXPECT_EQ(real_value(table, "min_axis_deconv_err") > 0, each.minor > 0);
    EXPECT_GT(real_value(table, "maj_axis_deconv_lim"), each.major);
    if (each.major == 0) {
      EXPECT_TRUE(std::isnan(real_value(table, "pos_ang_deconv")));
      EXPECT_TRUE(std::isnan(real_value(table, "maj_axis_deconv_err")));
    } else if (std::isfinite(each.angle)) {
      EXPECT_NEAR(std::remainder(real_value(table, "pos_ang_deconv") - each.angle, 180), 0, 1e-3);
    }
  }
}

TEST(Deconvolution, UndoesAConvolutionOnAnySky) {
  for (const auto& [what, header] : skies()) {
    const Wcs wcs = header.wcs();
    const auto params = params_of(9, 7, 35);
    // Of 12 x 4 arcsec at 110 deg, on the sky, with the beam added; then brought to pixels.
    const auto source = testing_support::beam_of(12, 4, 110);
    kastor::io::detail::Symmetric sum{0, 0, 0};
    for (const auto& part : {source, params.beam}) {
      const double a = std::pow(part.beam->major_deg * 3600 / k_fwhm, 2);
      const double b = std::pow(part.beam->minor_deg * 3600 / k_fwhm, 2);
      const double turn = part.beam->position_angle_deg * testing_support::k_radian;
      const double c = std::cos(turn), s = std::sin(turn);
      sum = {sum.xx + a * c * c + b * s * s, sum.xy + (a - b) * c * s,
             sum.yy + a * s * s + b * c * c};
    }
    const auto reference = wcs.reference_pixel();
    const auto local = kastor::io::detail::local_sky(wcs, std::span(&reference, 1))[0];
    const auto m = local.jacobian.to_pixels(sum);
    const auto back = local.jacobian.to_sky(m);
    EXPECT_NEAR(back.xx, sum.xx, 1e-9 * sum.xx) << what;
    EXPECT_NEAR(back.xy, sum.xy, 1e-9 * sum.xx) << what;
    EXPECT_NEAR(back.yy, sum.yy, 1e-9 * sum.yy) << what;
    // The Cholesky factor of the inverse.
    const double det = m.xx * m.yy - m.xy * m.xy;
    const double u = std::sqrt(m.yy / det);
    const Component component =
        component_of({2, reference.x, reference.y, u, -m.xy / det / u, 1 / std::sqrt(m.yy)}, 1e-3);
    const auto table = table_on(header, {component}, params).table;
    EXPECT_NEAR(real_value(table, "maj_axis_deconv"), 12, 1e-6) << what;
    EXPECT_NEAR(real_value(table, "min_axis_deconv"), 4, 1e-6) << what;
    EXPECT_NEAR(real_value(table, "pos_ang_deconv"), 110, 1e-5) << what;
  }
}

TEST(Deconvolution, SaysWhatIsNotResolved) {
  const auto flag = [](const Component& component) {
    return (testing_support::integer_value(table_on({}, {component}, params_of(10, 10)).table,
                                           "flags") &
            component_unresolved) != 0;
  };
  EXPECT_TRUE(flag(ellipse(5, 5, 0)));  // the beam's size
  EXPECT_TRUE(flag(fixed_shape(ellipse(5, 5, 0))));
  EXPECT_FALSE(flag(ellipse(7, 6, 0, 2, 59, 59, 0.001)));
  EXPECT_TRUE(flag(ellipse(5.1, 5, 0, 2, 59, 59, 0.2)));
  // On either side of two errors of the square.
  Component component = ellipse(5.5, 5.4, 30, 2, 59, 59, 0.01);
  const auto table = table_on({}, {component}, params_of(10, 10)).table;
  const double axis = real_value(table, "maj_axis_deconv");
  const double square_err = 2 * axis * real_value(table, "maj_axis_deconv_err");
  const double times = axis * axis / (2 * square_err);
  for (const double more : {0.99, 1.01}) {
    Component wide = component;
    for (auto& value : wide.covariance) value *= std::pow(times * more, 2);
    EXPECT_EQ(flag(wide), more > 1) << more;
    const double limit =
        real_value(table_on({}, {wide}, params_of(10, 10)).table, "maj_axis_deconv_lim");
    EXPECT_NEAR(limit * limit, axis * axis * (1 + more), 1e-9 * limit * limit);
  }
}

TEST(Deconvolution, OfABeamShapeIsAPoint) {
  const auto result = table_on({}, {fixed_shape(ellipse(5, 4, 90))}, params_of(10, 8)).table;
  EXPECT_EQ(real_value(result, "maj_axis_deconv"), 0);
  EXPECT_EQ(real_value(result, "min_axis_deconv"), 0);
  for (const char* name : {"maj_axis_deconv_err", "pos_ang_deconv", "maj_axis_deconv_lim",
                           "maj_axis_err", "min_axis_err", "pos_ang_err", "maj_axis_pix_err"})
    EXPECT_TRUE(std::isnan(real_value(result, name))) << name;
  EXPECT_NEAR(real_value(result, "maj_axis"), 10, 1e-6);
}

// ------------------------------------------------------------------------- what is not regular

TEST(ComponentErrors, OfCirclesAreTheMeanOfAllDirections) {
  const Component circle = component_of({2, 59, 59, 0.4, 0, 0.4}, 0.01);
  const auto moments = kastor::io::detail::moments_of(circle);
  const auto found = kastor::io::detail::ellipse_of(moments);
  double variance = 0;
  constexpr int directions = 360;
  for (int i = 0; i < directions; ++i) {
    // The derivative of m + r where (h, xy) has this direction.
    const double turn = 2 * std::numbers::pi * i / directions;
    const std::array<double, 3> g = {0.5 + 0.5 * std::cos(turn), std::sin(turn),
                                     0.5 - 0.5 * std::cos(turn)};
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) variance += g[j] * moments.cov[j][k] * g[k] / directions;
    }
  }
  const double want = found.major.value / (2 * moments.at.xx) * std::sqrt(variance);
  EXPECT_NEAR(found.major.error, want, 1e-9 * want);
  EXPECT_NEAR(found.minor.error, want, 1e-9 * want);
  EXPECT_EQ(found.angle.error, 90);
  EXPECT_EQ(found.angle.value, 0);
  // Hardly an ellipse: an angle that says nothing, axes with errors of the same size.
  Component almost = circle;
  almost.gaussian.t *= 1 + 1e-9;
  const auto near = kastor::io::detail::ellipse_of(kastor::io::detail::moments_of(almost));
  EXPECT_EQ(near.angle.error, 90);
  EXPECT_GT(near.major.error, 0.3 * want);
  EXPECT_LT(near.major.error, 2 * want);
}

TEST(ComponentErrors, AreNotThereWithoutACovariance) {
  Component component = ellipse(9, 6.5, 20);
  for (auto& value : component.covariance) value = k_nan;
  component.flags |= kastor::component_from_moments;
  const auto table = table_on({}, {component}, params_of(8, 6)).table;
  for (const auto& column : table.columns) {
    const auto* values = std::get_if<std::vector<double>>(&column.values);
    if (values == nullptr) continue;
    const bool is_error = column.name.ends_with("_err") || column.name == "cov_xy" ||
                          column.name == "maj_axis_deconv_lim";
    EXPECT_EQ(std::isnan(values->at(0)), is_error) << column.name;
  }
  EXPECT_EQ(testing_support::integer_value(table, "fit_is_estimate"), 1);
  EXPECT_EQ(testing_support::integer_value(table, "flags"), kastor::component_from_moments);
}

TEST(ComponentErrors, OfLongEllipsesAreFinite) {
  const auto table = table_on({}, {ellipse(500, 2, 33)}, params_of(3, 3)).table;
  for (const char* name : {"maj_axis_err", "min_axis_err", "pos_ang_err", "maj_axis_deconv_err"})
    EXPECT_TRUE(real_value(table, name) > 0) << name;
  EXPECT_NEAR(real_value(table, "maj_axis"), 1000, 1e-3);
  EXPECT_NEAR(real_value(table, "min_axis"), 4, 1e-6);
}

}  // namespace
