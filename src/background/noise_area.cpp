// SPDX-License-Identifier: Apache-2.0
#include "background/noise_area.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <utility>

namespace kastor::detail {
namespace {

constexpr double k_no_area = std::numeric_limits<double>::quiet_NaN();
// Correlations below are taken as 0 [standard error].
constexpr double k_clearly_above = 3;

/// Normal equations of a least-squares fit of N numbers.
template <std::size_t N>
class LeastSquares {
 public:
  void add(const std::array<double, N>& row, double value, double weight) {
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) m_matrix[i][j] += weight * row[i] * row[j];
      m_matrix[i][N] += weight * row[i] * value;
    }
  }
  /// By Gauss-Jordan with pivots; NaN if they are singular.
  [[nodiscard]] std::array<double, N> solution() {
    std::array<double, N> result;
    result.fill(k_no_area);
    for (std::size_t k = 0; k < N; ++k) {
      std::size_t pivot = k;
      for (std::size_t i = k + 1; i < N; ++i)
        if (std::abs(m_matrix[i][k]) > std::abs(m_matrix[pivot][k])) pivot = i;
      std::swap(m_matrix[k], m_matrix[pivot]);
      if (!(std::abs(m_matrix[k][k]) > 1e-12)) return result;
      for (std::size_t i = 0; i < N; ++i) {
        if (i == k) continue;
        const double by = m_matrix[i][k] / m_matrix[k][k];
        for (std::size_t j = k; j <= N; ++j) m_matrix[i][j] -= by * m_matrix[k][j];
      }
    }
    for (std::size_t k = 0; k < N; ++k) result[k] = m_matrix[k][N] / m_matrix[k][k];
    return result;
  }

 private:
  std::array<std::array<double, N + 1>, N> m_matrix{};
};

/// -ln rho = a + xx dx^2 + 2 xy dx dy + yy dy^2
struct CoreFit {
  double a, xx, xy, yy;
  [[nodiscard]] double area() const {
    const double det = xx * yy - xy * xy;
    if (!(det > 0) || !(xx > 0)) return k_no_area;
    const double part = std::exp(-a);  // of the variance; the rest is white
    return part * std::numbers::pi / std::sqrt(det) + (1 - part);
  }
};

CoreFit fit_core(const std::vector<LagCorrelation>& found, bool has_white_part) {
  LeastSquares<4> with;
  LeastSquares<3> without;
  for (const auto& [lag, pairs, rho, error] : found) {
    if (!(rho > noise_core && rho < 1)) continue;
    const double x = lag.dx;
    const double y = lag.dy;
    // The error of ln rho is that of rho / rho.
    with.add({x * x, 2 * x * y, y * y, 1}, -std::log(rho), rho * rho);
    without.add({x * x, 2 * x * y, y * y}, -std::log(rho), rho * rho);
  }
  if (has_white_part) {
    const auto p = with.solution();
    return {p[3], p[0], p[1], p[2]};
  }
  const auto p = without.solution();
  return {0, p[0], p[1], p[2]};
}

}  // namespace

LagCorrelation correlation_of(const NoiseLag& lag, const PairSums& sums) {
  LagCorrelation result{lag, sums.n, k_no_area, k_no_area};
  if (sums.n < 2) return result;
  const auto n = static_cast<double>(sums.n);
  const double mean = static_cast<double>(sums.a) / n;
  const double variance = static_cast<double>(sums.aa) / n - mean * mean;
  if (!(variance > 0)) return result;
  result.rho =
      (static_cast<double>(sums.ab) / n - mean * (static_cast<double>(sums.b) / n)) / variance;
  constexpr double unit = 1024;
  result.error = unit / std::sqrt(n * variance);
  return result;
}

std::vector<NoiseLag> short_lags() {
  std::vector<NoiseLag> lags = {{0, 1}, {0, 2}};
  for (std::int32_t dy = 1; dy <= 2; ++dy)
    for (std::int32_t dx = -2; dx <= 2; ++dx) lags.push_back({dy, dx});
  return lags;
}

std::vector<NoiseLag> long_lags(std::int32_t near, std::int32_t far) {
  std::vector<NoiseLag> lags;
  for (const std::int32_t d : {near, far})
    lags.insert(lags.end(), {{0, d}, {d, 0}, {d, d}, {d, -d}});
  return lags;
}

bool reaches(const std::vector<LagCorrelation>& found, std::int32_t distance) {
  double sum = 0;
  for (const auto& each : found) {
    const auto& lag = each.lag;
    if (std::abs(lag.dx) + lag.dy == distance && lag.dx * lag.dy == 0) sum += each.rho;
  }
  return 0.5 * sum > noise_core;
}

double area_by_sum(const std::vector<LagCorrelation>& found) {
  double sum = 1;
  for (const auto& each : found) {
    const bool is_short = std::abs(each.lag.dx) <= 2 && each.lag.dy <= 2;
    if (is_short && std::abs(each.rho) > k_clearly_above * each.error)
      sum += 2 * each.rho;  // both halves
  }
  return std::max(sum, 1.0);
}

double area_by_fit(const std::vector<LagCorrelation>& found) {
  const CoreFit free = fit_core(found, true);
  const CoreFit fit = free.a > 0 && std::isfinite(free.area()) ? free : fit_core(found, false);
  const double area = fit.area();
  return std::isfinite(area) ? std::max(area, 1.0) : k_no_area;
}

}  // namespace kastor::detail
