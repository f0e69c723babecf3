// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <io/catalogue/component_shape.hpp>
#include <kastor/gaussian.hpp>
#include <numbers>
#include <random>
#include <vector>

/// How often a point is taken for a larger source.
namespace {

using kastor::Gaussian;
using kastor::PixelEllipse;
using kastor::io::detail::deconvolved;
using kastor::io::detail::moments_of;

using Vector = std::array<double, 6>;
using Matrix = std::array<Vector, 6>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t j = 0; j < 6; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

/// By Gauss and Jordan.
Matrix inverse(Matrix a) {
  Matrix b{};
  for (std::size_t i = 0; i < 6; ++i) b[i][i] = 1;
  for (std::size_t i = 0; i < 6; ++i) {
    const double pivot = a[i][i];
    for (std::size_t j = 0; j < 6; ++j) {
      a[i][j] /= pivot;
      b[i][j] /= pivot;
    }
    for (std::size_t k = 0; k < 6; ++k) {
      const double factor = k == i ? 0 : a[k][i];
      for (std::size_t j = 0; j < 6; ++j) {
        a[k][j] -= factor * a[i][j];
        b[k][j] -= factor * b[i][j];
      }
    }
  }
  return b;
}

/// Lower triangle whose product with its transpose is the matrix.
Matrix cholesky(const Matrix& a) {
  Matrix l{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
  }
  return l;
}

struct Pixel {
  double x, y;
  Vector slope;
};

/// Pixels within 0.8 FWHM of a point of peak 1, and the derivatives of its model.
std::vector<Pixel> pixels_of(const PixelEllipse& beam) {
  const Gaussian g = kastor::gaussian_of(beam);
  std::vector<Pixel> pixels;
  for (int j = -9; j <= 9; ++j) {
    for (int i = -9; i <= 9; ++i) {
      const double x = i, y = j, s = g.s(x, y), z = g.z(y);
      if (s * s + z * z > 0.64 * 8 * std::numbers::ln2) continue;
      const double e = std::exp(-0.5 * (s * s + z * z));
      pixels.push_back(
          {x, y, {e, e * s * g.u, e * (s * g.w + z * g.t), -e * s * x, -e * s * y, -e * z * y}});
    }
  }
  return pixels;
}

/// Covariance of a least squares fit in noise of 1 with the autocorrelation of the beam.
Matrix covariance_of_fit(const PixelEllipse& beam) {
  const auto pixels = pixels_of(beam);
  const Gaussian g = kastor::gaussian_of(beam);
  Matrix h{}, middle{};
  for (const auto& p : pixels) {
    for (const auto& q : pixels) {
      const double s = g.s(p.x - q.x, p.y - q.y), z = g.z(p.y - q.y);
      const double rho = std::exp(-0.5 * (s * s + z * z));
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j < 6; ++j) {
          middle[i][j] += p.slope[i] * rho * q.slope[j];
          if (&p == &q) h[i][j] += p.slope[i] * p.slope[j];
        }
      }
    }
  }
  const Matrix solved = inverse(h);
  return product(product(solved, middle), solved);
}

/// The fraction of points that are called resolved at this ratio of peak and noise.
double resolved(const PixelEllipse& beam, double snr) {
  Matrix covariance = covariance_of_fit(beam);
  kastor::Component component{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) {
      covariance[i][j] /= snr * snr;
      component.covariance[6 * i + j] = covariance[i][j];
    }
  }
  component.gaussian = kastor::gaussian_of(beam);
  const auto of_beam = moments_of(component).at;
  const Matrix factor = cholesky(covariance);
  std::mt19937_64 bits(1);
  std::normal_distribution<double> normal;
  constexpr int draws = 20'000;
  int count = 0;
  for (int draw = 0; draw < draws; ++draw) {
    Vector deviation{}, unit{};
    for (auto& value : unit) value = normal(bits);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t k = 0; k <= i; ++k) deviation[i] += factor[i][k] * unit[k];
    }
    kastor::Component drawn = component;
    drawn.gaussian.u += deviation[3];
    drawn.gaussian.w += deviation[4];
    drawn.gaussian.t += deviation[5];
    count += deconvolved(moments_of(drawn), of_beam).unresolved ? 0 : 1;
  }
  return static_cast<double>(count) / draws;
}

// The figures of docs/components.md.
TEST(ComponentResolution, FewPointsAreCalledResolved) {
  const PixelEllipse beam{5, 4, 0.6};
  const struct {
    double snr, fraction;
  } cases[] = {{10, 0.004}, {20, 0.039}, {50, 0.067}, {200, 0.081}};
  for (const auto& [snr, fraction] : cases)
    EXPECT_NEAR(resolved(beam, snr), fraction, 0.008) << snr;
}

}  // namespace
