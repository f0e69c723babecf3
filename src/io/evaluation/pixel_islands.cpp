// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/io/evaluation.hpp>
#include <numbers>
#include <vector>

namespace kastor::io {
namespace {

// Integrals over a normal variable from the threshold end so many sigma above it.
constexpr double k_reach = 6;
constexpr int k_nodes = 128;
constexpr int k_angle_nodes = 20;
// Beyond it the nodes are too far apart, and the field is smooth: a FWHM of 37 pixels.
constexpr double k_smooth = 0.998;

struct Node {
  double at, weight;
};

/// Gauss and Legendre's nodes on [-1, 1], by Newton's method.
std::vector<Node> gauss_legendre(int count) {
  std::vector<Node> nodes;
  for (int i = 0; i < count; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
    double slope = 1;
    for (int step = 0; step < 8; ++step) {
      double last = 1;
      double value = x;
      for (int n = 2; n <= count; ++n) {
        const double next = ((2 * n - 1) * x * value - (n - 1) * last) / n;
        last = value;
        value = next;
      }
      slope = count * (x * value - last) / (x * x - 1);
      x -= value / slope;
    }
    nodes.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return nodes;
}

double above(double x) { return 0.5 * std::erfc(x / std::numbers::sqrt2); }

/// Probabilities that pixels of a 2 x 2 square are all above u.
class Square {
 public:
  explicit Square(double threshold)
      : m_u(threshold), m_nodes(gauss_legendre(k_nodes)), m_angles(gauss_legendre(k_angle_nodes)) {
    for (auto& [at, weight] : m_nodes) {
      at = m_u + (at + 1) / 2 * k_reach;
      weight *= k_reach / 2;
    }
  }

  /// Two normal variables above h and k (Drezner & Wesolowsky, J. Stat. Comput. Simul. 35, 101,
  /// 1990: an integral over the correlation).
  [[nodiscard]] double two(double h, double k, double correlation) const {
    const double end = std::asin(correlation);
    double sum = 0;
    for (const auto& [at, weight] : m_angles) {
      const double sine = std::sin((at + 1) / 2 * end);
      sum += weight * std::exp(-(h * h + k * k - 2 * h * k * sine) / (2 * (1 - sine * sine)));
    }
    return above(h) * above(k) + sum * end / (4 * std::numbers::pi);
  }

  /// Integrates the probability of the others, given two of this correlation above u.
  template <class Others>
  [[nodiscard]] double integral(double correlation, const Others& others) const {
    const double rest = 1 - correlation * correlation;
    double sum = 0;
    for (const auto& [a, weight_a] : m_nodes) {
      for (const auto& [b, weight_b] : m_nodes) {
        const double density = std::exp(-(a * a - 2 * correlation * a * b + b * b) / (2 * rest)) /
                               (2 * std::numbers::pi * std::sqrt(rest));
        sum += weight_a * weight_b * density * others(a, b);
      }
    }
    return sum;
  }

  /// The mean of a third variable is p a + q b, with correlations to the two.
  struct Given {
    double p, q, variance;
  };
  static Given given(double between, double to_a, double to_b) {
    const double rest = 1 - between * between;
    const double p = (to_a - between * to_b) / rest;
    const double q = (to_b - between * to_a) / rest;
    return {p, q, 1 - p * to_a - q * to_b};
  }

  [[nodiscard]] double three(double ab, double ac, double bc) const {
    const auto c = given(ab, ac, bc);
    const double sigma = std::sqrt(c.variance);
    return integral(ab,
                    [&](double a, double b) { return above((m_u - c.p * a - c.q * b) / sigma); });
  }

  /// The two ends of a diagonal are a and b, the others c and d.
  [[nodiscard]] double four(const NoiseCorrelation& noise) const {
    const auto c = given(noise.up, noise.x, noise.y);
    const auto d = given(noise.up, noise.y, noise.x);
    const double covariance = noise.down - c.p * noise.y - c.q * noise.x;
    const double sigma_c = std::sqrt(c.variance);
    const double sigma_d = std::sqrt(d.variance);
    const double correlation = covariance / (sigma_c * sigma_d);
    if (!(std::abs(correlation) < 1)) return std::nan("");
    return integral(noise.up, [&](double a, double b) {
      return two((m_u - c.p * a - c.q * b) / sigma_c, (m_u - d.p * a - d.q * b) / sigma_d,
                 correlation);
    });
  }

 private:
  double m_u;
  std::vector<Node> m_nodes, m_angles;
};

}  // namespace

double expected_islands_per_pixel(double threshold, const NoiseCorrelation& noise) {
  const std::array all = {noise.x, noise.y, noise.up, noise.down};
  const bool is_noise =
      std::all_of(all.begin(), all.end(), [](double rho) { return std::abs(rho) < 1; });
  if (!(threshold >= 1) || !is_noise) return std::nan("");
  if (*std::max_element(all.begin(), all.end()) > k_smooth)
    return smooth_islands_per_pixel(threshold, noise);
  const Square square(threshold);
  double islands = above(threshold);
  for (const double rho : all) islands -= square.two(threshold, threshold, rho);
  islands +=
      2 * square.three(noise.x, noise.y, noise.down) + 2 * square.three(noise.x, noise.up, noise.y);
  islands -= square.four(noise);
  return islands;
}

}  // namespace kastor::io
