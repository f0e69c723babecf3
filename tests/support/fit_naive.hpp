// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_FIT_NAIVE_HPP
#define KASTOR_TESTS_FIT_NAIVE_HPP

#include <cmath>
#include <cstddef>
#include <functional>
#include <kastor/gaussian.hpp>
#include <utility>
#include <vector>

/// Least squares as in a textbook, in long double.
namespace testing_support {

using Matrix = std::vector<std::vector<long double>>;

struct NaivePixel {
  double x, y, value;
};

[[nodiscard]] inline long double value_of(const kastor::Gaussian& g, double x, double y) {
  const long double s = g.s(x, y);
  const long double z = g.z(y);
  return g.peak * std::exp(-(s * s + z * z) / 2);
}

/// By Gauss and Jordan, with pivots.
[[nodiscard]] inline Matrix inverse_of(Matrix a) {
  const std::size_t n = a.size();
  Matrix b(n, std::vector<long double>(n));
  for (std::size_t i = 0; i < n; ++i) b[i][i] = 1;
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t i = p; i < n; ++i)
      if (std::abs(a[i][p]) > std::abs(a[best][p])) best = i;
    std::swap(a[p], a[best]);
    std::swap(b[p], b[best]);
    const long double pivot = a[p][p];
    for (std::size_t j = 0; j < n; ++j) {
      a[p][j] /= pivot;
      b[p][j] /= pivot;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const long double factor = a[i][p];
      for (std::size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[p][j];
        b[i][j] -= factor * b[p][j];
      }
    }
  }
  return b;
}

[[nodiscard]] inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.size(), std::vector<long double>(b.front().size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t j = 0; j < c[i].size(); ++j) c[i][j] += a[i][k] * b[k][j];
  return c;
}

[[nodiscard]] inline Matrix transposed(const Matrix& a) {
  Matrix b(a.front().size(), std::vector<long double>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a[i].size(); ++j) b[j][i] = a[i][j];
  return b;
}

/// Several Gaussians of which the first `free` of (peak, x, y, u, w, t) are free.
class NaiveFit {
 public:
  NaiveFit(std::vector<NaivePixel> pixels, int free) : m_pixels(std::move(pixels)), m_free(free) {}

  static double& parameter(kastor::Gaussian& g, std::size_t which) {
    double* const all[] = {&g.peak, &g.x, &g.y, &g.u, &g.w, &g.t};
    return *all[which];
  }
  [[nodiscard]] long double model(const std::vector<kastor::Gaussian>& all, double x,
                                  double y) const {
    long double sum = 0;
    for (const auto& g : all) sum += value_of(g, x, y);
    return sum;
  }
  [[nodiscard]] long double sum_of_squares(const std::vector<kastor::Gaussian>& all) const {
    long double sum = 0;
    for (const auto& p : m_pixels) {
      const long double r = p.value - model(all, p.x, p.y);
      sum += r * r;
    }
    return sum;
  }
  /// One row a pixel, one column a free parameter; by central differences.
  [[nodiscard]] Matrix derivatives(const std::vector<kastor::Gaussian>& all) const {
    const auto free = static_cast<std::size_t>(m_free);
    Matrix j(m_pixels.size(), std::vector<long double>(free * all.size()));
    for (std::size_t c = 0; c < all.size(); ++c) {
      for (std::size_t a = 0; a < free; ++a) {
        kastor::Gaussian up = all[c];
        kastor::Gaussian down = all[c];
        const double step = 1e-6 * std::max(1e-2, std::abs(parameter(up, a)));
        parameter(up, a) += step;
        parameter(down, a) -= step;
        for (std::size_t i = 0; i < m_pixels.size(); ++i) {
          const auto& p = m_pixels[i];
          j[i][free * c + a] = (value_of(up, p.x, p.y) - value_of(down, p.x, p.y)) /
                               (static_cast<long double>(parameter(up, a)) - parameter(down, a));
        }
      }
    }
    return j;
  }
  /// Gauss and Newton, with halved steps.
  [[nodiscard]] std::vector<kastor::Gaussian> operator()(std::vector<kastor::Gaussian> all) const {
    const auto free = static_cast<std::size_t>(m_free);
    for (int iteration = 0; iteration < 100; ++iteration) {
      const Matrix j = derivatives(all);
      Matrix r(m_pixels.size(), std::vector<long double>(1));
      for (std::size_t i = 0; i < m_pixels.size(); ++i)
        r[i][0] = m_pixels[i].value - model(all, m_pixels[i].x, m_pixels[i].y);
      const Matrix step = product(inverse_of(product(transposed(j), j)), product(transposed(j), r));
      const long double before = sum_of_squares(all);
      for (double part = 1; part > 1e-4; part /= 2) {
        auto next = all;
        for (std::size_t c = 0; c < all.size(); ++c)
          for (std::size_t a = 0; a < free; ++a)
            parameter(next[c], a) += part * static_cast<double>(step[free * c + a][0]);
        if (sum_of_squares(next) >= before) continue;
        all = next;
        break;
      }
    }
    return all;
  }
  /// (J^T J)^-1 J^T C J (J^T J)^-1 for the correlation of the noise of two pixels.
  [[nodiscard]] Matrix covariance(const std::vector<kastor::Gaussian>& all,
                                  const std::function<double(double, double)>& rho) const {
    const Matrix j = derivatives(all);
    Matrix cj(j.size(), std::vector<long double>(j.front().size()));
    for (std::size_t i = 0; i < j.size(); ++i)
      for (std::size_t k = 0; k < j.size(); ++k) {
        const double c = rho(m_pixels[k].x - m_pixels[i].x, m_pixels[k].y - m_pixels[i].y);
        for (std::size_t a = 0; a < j[k].size(); ++a) cj[i][a] += c * j[k][a];
      }
    const Matrix h = inverse_of(product(transposed(j), j));
    return product(product(h, product(transposed(j), cj)), h);
  }

 private:
  std::vector<NaivePixel> m_pixels;
  int m_free;
};

}  // namespace testing_support

#endif
