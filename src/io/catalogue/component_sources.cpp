// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/component_sources.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace kastor::io::detail {
namespace {

// Steps of the line from one centre to the other, in the narrower of both widths. What the least
// value between two steps is below them is at most (4 ln 2 / 32^2) / 4 of the peak.
constexpr double k_steps_in_width = 32;
constexpr double k_most_steps = 4096;
// exp(-200 / 2) is nothing beside the peaks.
constexpr double k_negligible = 200;

using Rows = std::vector<std::size_t>;

double value_at(const Gaussian& g, double x, double y) {
  const double s = g.s(x, y);
  const double z = g.z(y);
  const double square = s * s + z * z;
  return square < k_negligible ? g.peak * std::exp(-0.5 * square) : 0.0;
}

/// Full width at half maximum along a direction of length 1.
double width_along(const Gaussian& g, double dx, double dy) {
  return std::sqrt(8 * std::numbers::ln2) / std::hypot(g.u * dx + g.w * dy, g.t * dy);
}

class Joiner {
 public:
  Joiner(std::span<const Component> components, const FloodLevel& flood)
      : m_components(components), m_flood(flood), m_parent(components.size()) {
    std::iota(m_parent.begin(), m_parent.end(), std::size_t{0});
  }

  void join(const Rows& island) {
    for (std::size_t i = 0; i < island.size(); ++i) {
      for (std::size_t j = i + 1; j < island.size(); ++j) {
        const std::size_t a = first_of(island[i]);
        const std::size_t b = first_of(island[j]);
        if (a != b && are_one(island, m_components[island[i]], m_components[island[j]])) {
          m_parent[std::max(a, b)] = std::min(a, b);
        }
      }
    }
  }
  /// The first component of the source.
  [[nodiscard]] std::size_t first_of(std::size_t row) {
    while (m_parent[row] != row) {
      m_parent[row] = m_parent[m_parent[row]];
      row = m_parent[row];
    }
    return row;
  }

 private:
  [[nodiscard]] bool are_one(const Rows& island, const Component& a, const Component& b) const {
    const Gaussian& g = a.gaussian;
    const Gaussian& h = b.gaussian;
    if (!(g.peak * h.peak > 0)) return false;
    const double dx = h.x - g.x;
    const double dy = h.y - g.y;
    const double distance = std::hypot(dx, dy);
    if (distance == 0) return true;
    const double first = width_along(g, dx / distance, dy / distance);
    const double second = width_along(h, dx / distance, dy / distance);
    if (!(distance <= 0.5 * (first + second))) return false;
    const double steps = std::min(
        std::ceil(k_steps_in_width * distance / std::min(first, second)) + 1, k_most_steps);
    const double flood = m_flood.level > 0 ? m_flood.level : m_flood.snr * 0.5 * (a.rms + b.rms);
    const double sign = g.peak < 0 ? -1 : 1;
    const double least = std::min(std::abs(g.peak), std::abs(h.peak)) - flood;
    for (double step = 0; step <= steps; ++step) {
      const double part = step / steps;
      if (sign * model_at(island, g.x + part * dx, g.y + part * dy) < least) return false;
    }
    return true;
  }

  [[nodiscard]] double model_at(const Rows& island, double x, double y) const {
    double sum = 0;
    for (const std::size_t row : island) sum += value_at(m_components[row].gaussian, x, y);
    return sum;
  }

  std::span<const Component> m_components;
  FloodLevel m_flood;
  Rows m_parent;
};

}  // namespace

std::vector<ComponentSource> component_sources(std::span<const Component> components,
                                               const FloodLevel& flood) {
  std::map<std::int64_t, Rows> islands;
  for (std::size_t i = 0; i < components.size(); ++i) {
    islands[components[i].island_id].push_back(i);
  }
  Joiner joiner(components, flood);
  std::vector<ComponentSource> sources(components.size());
  std::vector<std::size_t> parts(components.size());
  for (const auto& [id, rows] : islands) {
    joiner.join(rows);
    for (const std::size_t row : rows) {
      sources[row].has_siblings = rows.size() > 1;
      ++parts[joiner.first_of(row)];
    }
  }
  std::int64_t id = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t first = joiner.first_of(i);
    sources[i].id = first == i ? ++id : sources[first].id;
    sources[i].code = parts[first] > 1 ? 'M' : sources[i].has_siblings ? 'C' : 'S';
  }
  return sources;
}

}  // namespace kastor::io::detail
