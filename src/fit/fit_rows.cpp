// SPDX-License-Identifier: Apache-2.0
#include "fit/fit_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace kastor::detail {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A component of an island: which one of which set.
struct Row {
  const FitPart* part;
  std::size_t set;
  int member;
};

std::vector<Row> ordered_rows(const IslandFit& fit) {
  std::vector<Row> rows;
  for (std::size_t s = 0; s < fit.sets.size(); ++s) {
    const FitSet& set = fit.sets[s];
    for (int i = 0; i < set.count; ++i)
      rows.push_back({&fit.part(set.members[static_cast<std::size_t>(i)]), s, i});
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const Gaussian& g = a.part->now;
    const Gaussian& h = b.part->now;
    return std::tie(h.peak, g.y, g.x) < std::tie(g.peak, h.y, h.x);
  });
  return rows;
}

/// Of a set's covariance matrix: the block of two members. What lies below the background has a
/// negative peak, so the covariances of the peak with other parameters change their sign.
class CovarianceOf {
 public:
  CovarianceOf(const FitSet& set, bool is_estimate, bool is_negative)
      : m_set(set), m_is_known(!is_estimate), m_sign(is_negative ? -1 : 1) {}

  [[nodiscard]] double operator()(int member, std::size_t row, int other,
                                  std::size_t column) const {
    if (!m_is_known) return nan;
    const std::size_t size = 6 * static_cast<std::size_t>(m_set.count);
    const std::size_t at_row = 6 * static_cast<std::size_t>(member) + row;
    const double value =
        m_set.covariance[at_row * size + 6 * static_cast<std::size_t>(other) + column];
    return (row == at_peak) != (column == at_peak) ? m_sign * value : value;
  }

 private:
  const FitSet& m_set;
  bool m_is_known;
  double m_sign;
};

std::uint32_t flags_of(const IslandFit& fit, const FitSet& set, const FitPart& part) {
  std::uint32_t flags = fit.flags | part.flags;
  if (part.mode == FitMode::estimate) return flags | component_from_moments;
  flags |= set.outcome.flags;
  if (part.fit.free < 6) flags |= component_beam_shape;
  if (set.outcome.status == FitStatus::not_converged) flags |= component_not_converged;
  if (set.outcome.stride > 1) flags |= component_sampled;
  return flags;
}

Component component_of(const IslandFit& fit, const Row& row) {
  const FitSet& set = fit.sets[row.set];
  const FitPart& part = *row.part;
  Component c{};
  c.island_id = fit.island.id;
  c.gaussian = part.now;
  c.flags = flags_of(fit, set, part);
  c.group_size = set.count;
  c.rms = c.background = c.chi_squared = c.residual_rms = nan;
  const bool is_negative = (fit.flags & component_negative) != 0;
  if (is_negative) c.gaussian.peak = -c.gaussian.peak;
  const bool is_estimate = part.mode == FitMode::estimate;
  const CovarianceOf covariance(set, is_estimate, is_negative);
  for (std::size_t i = 0; i < gaussian_parameters; ++i) {
    for (std::size_t j = 0; j < gaussian_parameters; ++j)
      c.covariance[gaussian_parameters * i + j] = covariance(row.member, i, row.member, j);
  }
  if (is_estimate) return c;
  c.n_pix = set.outcome.n_pix;
  c.iterations = set.outcome.iterations;
  c.residual_rms = std::sqrt(set.outcome.sum_of_squares / static_cast<double>(c.n_pix));
  c.chi_squared = set.outcome.sum_of_squares;  // divided by the noise when that is known
  return c;
}

/// Appends the covariance matrix of a set, its members in the order of the rows.
void append_covariance(const IslandFit& fit, const std::vector<Row>& rows, std::size_t set,
                       std::vector<double>& result) {
  std::vector<int> members;
  bool is_estimate = false;
  for (const Row& row : rows) {
    if (row.set != set) continue;
    members.push_back(row.member);
    is_estimate = row.part->mode == FitMode::estimate;
  }
  const bool is_negative = (fit.flags & component_negative) != 0;
  const CovarianceOf covariance(fit.sets[set], is_estimate, is_negative);
  for (const int a : members) {
    for (std::size_t i = 0; i < gaussian_parameters; ++i) {
      for (const int b : members) {
        for (std::size_t j = 0; j < gaussian_parameters; ++j)
          result.push_back(covariance(a, i, b, j));
      }
    }
  }
}

/// The noise by which the group was weighted, that of its brightest component.
double noise_of(const std::vector<Row>& rows, std::size_t set) {
  for (const Row& row : rows) {
    if (row.set == set) return row.part->rms;
  }
  return nan;
}

}  // namespace

FittedComponents rows_of_fits(const std::vector<IslandFit>& islands) {
  FittedComponents result;
  result.covariance_begin.push_back(0);
  std::int64_t groups = 0;
  for (const IslandFit& fit : islands) {
    const std::vector<Row> rows = ordered_rows(fit);
    std::vector<std::int64_t> group_of(fit.sets.size(), 0);
    for (const Row& row : rows) {
      if (group_of[row.set] == 0) {
        group_of[row.set] = ++groups;
        append_covariance(fit, rows, row.set, result.covariance);
        result.covariance_begin.push_back(result.covariance.size());
      }
      Component c = component_of(fit, row);
      c.id = static_cast<std::int64_t>(result.components.size()) + 1;
      c.group_id = group_of[row.set];
      const double noise = noise_of(rows, row.set);
      c.chi_squared /= noise * noise;
      result.components.push_back(c);
    }
  }
  return result;
}

}  // namespace kastor::detail
