// SPDX-License-Identifier: Apache-2.0
#include "fit/forced_fits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "fit/fit_work.hpp"

namespace kastor::detail {
namespace {

constexpr double forced_nan = std::numeric_limits<double>::quiet_NaN();
constexpr double forced_infinity = std::numeric_limits<double>::infinity();
/// Most positions of a group: of heights alone, and with more parameters.
constexpr std::int32_t most_heights = 32;
constexpr std::int32_t most_free = 8;
/// Fits of the parts of a large group, each with the others' last result subtracted.
constexpr int sweeps = 3;
/// Numbers of the covariance matrices of one call of the kernels, at most.
constexpr std::size_t most_numbers = std::size_t{1} << 23;
/// Range of a free size [the given one].
constexpr double smallest_size = 0.3;
constexpr double largest_size = 3;

constexpr std::size_t parameters_each = gaussian_parameters;

std::int32_t free_count(FreeParameters free) {
  return free == FreeParameters::flux ? 1 : (free == FreeParameters::position ? 3 : 6);
}

/// Positions of a group at most: of no more than can all be fitted with all their pixels.
std::int32_t most_together(const ForcedParams& params) {
  if (params.free != FreeParameters::flux) return most_free;
  const double pixels =
      std::numbers::pi * forced_radius * forced_radius * params.beam.major * params.beam.minor;
  return static_cast<std::int32_t>(
      std::clamp(most_fitted_pixels / pixels, double{most_free}, double{most_heights}));
}

Component row_without_fit(std::size_t row) {
  Component component{};
  component.id = component.island_id = static_cast<std::int64_t>(row) + 1;
  component.gaussian = {forced_nan, forced_nan, forced_nan, forced_nan, forced_nan, forced_nan};
  for (double& each : component.covariance) each = forced_nan;
  component.rms = component.background = forced_nan;
  component.chi_squared = component.residual_rms = forced_nan;
  component.flags = component_forced;
  return component;
}

}  // namespace

ForcedFits::ForcedFits(std::span<const ForcedPosition> positions, const ForcedParams& params,
                       std::span<const std::size_t> rows, std::span<const Gaussian> gaussians)
    : m_params(params), m_positions(positions), m_rows(rows), m_gaussians(gaussians) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    m_result.components.push_back(row_without_fit(i));
    Component& row = m_result.components.back();
    row.gaussian.x = positions[i].x;
    row.gaussian.y = positions[i].y;
    row.flags |= component_off_image;
    if (!positions[i].shape) row.flags |= component_beam_shape;
  }
}

FittedComponents ForcedFits::run(std::span<const ForcedPlace> places, const Fit& fit) {
  m_fit = &fit;
  choose(places);
  make_groups();
  Groups whole, parts;
  for (Group& group : m_groups) (group.members.is_split ? parts : whole).push_back(&group);
  const bool has_more = m_params.free != FreeParameters::flux;
  fit_flux(whole, parts, !has_more);
  if (has_more) fit_free(whole, parts);
  fit_alone();
  write_rows();
  copy_repeated_rows();
  return std::move(m_result);
}

void ForcedFits::choose(std::span<const ForcedPlace> places) {
  const auto first = first_at_place(m_gaussians);
  for (std::size_t i = 0; i < m_gaussians.size(); ++i) {
    Component& row = m_result.components[m_rows[i]];
    row.flags &= ~std::uint32_t{component_off_image};
    row.gaussian = m_gaussians[i];
    row.gaussian.peak = forced_nan;
    row.rms = places[i].rms;
    row.background = places[i].level;
    if (!(places[i].squared_distance < forced_infinity)) {
      row.flags |= component_no_pixels;
      continue;
    }
    if (const auto other = static_cast<std::size_t>(first[i]); other != i) {
      m_repeated.emplace_back(m_rows[i], m_rows[other]);
      continue;
    }
    m_sources.push_back({m_rows[i], m_gaussians[i], m_gaussians[i], places[i]});
    m_sources.back().fitted.peak = 0;
  }
}

void ForcedFits::make_groups() {
  std::vector<Gaussian> given;
  given.reserve(m_sources.size());
  for (const Source& each : m_sources) given.push_back(each.given);
  for (auto& members : forced_groups(given, forced_reach, most_together(m_params))) {
    Group group{};
    // The brightest decides how much its residuals weigh.
    double brightest = -1;
    for (const Index i : members.core) {
      const double height = std::abs(source(i).place.deviation);
      if (height <= brightest) continue;
      brightest = height;
      group.rms = source(i).place.rms;
    }
    if (members.is_split) group.flags = component_group_split;
    group.members = std::move(members);
    m_groups.push_back(std::move(group));
  }
}

void ForcedFits::fit_flux(const Groups& whole, const Groups& parts, bool is_last) {
  fit_groups(whole, FreeParameters::flux, is_last);
  for (int sweep = 1; sweep <= sweeps; ++sweep)
    fit_groups(parts, FreeParameters::flux, is_last && sweep == sweeps);
}

void ForcedFits::fit_free(const Groups& whole, const Groups& parts) {
  fit_groups(whole, m_params.free, true);
  for (int sweep = 1; sweep <= sweeps; ++sweep) fit_groups(parts, m_params.free, sweep == sweeps);
  Groups failed;
  for (const Groups* all : {&whole, &parts}) {
    for (Group* group : *all) {
      if (!group->has_failed) continue;
      for (const Index i : group->members.core) source(i).fitted = source(i).given;
      group->flags |= component_not_converged;
      failed.push_back(group);
    }
  }
  fit_groups(failed, FreeParameters::flux, true);
}

void ForcedFits::fit_alone() {
  std::vector<Group> alone;
  for (Group& group : m_groups) {
    if (!group.has_failed || group.members.core.size() + group.members.halo.size() < 2) continue;
    for (const Index i : group.members.core) {
      source(i).fitted = source(i).given;
      source(i).fitted.peak = 0;
      Group single{};
      single.members.core = {i};
      single.rms = source(i).place.rms;
      single.flags = component_group_split | component_not_converged;
      alone.push_back(std::move(single));
    }
  }
  if (alone.empty()) return;
  std::erase_if(m_groups, [](const Group& group) {
    return group.has_failed && group.members.core.size() + group.members.halo.size() > 1;
  });
  Groups list;
  for (Group& group : alone) list.push_back(&group);
  fit_groups(list, FreeParameters::flux, true);
  std::move(alone.begin(), alone.end(), std::back_inserter(m_groups));
  std::sort(m_groups.begin(), m_groups.end(), [](const Group& a, const Group& b) {
    return a.members.core.front() < b.members.core.front();
  });
}

void ForcedFits::fit_groups(const Groups& groups, FreeParameters free, bool with_covariance) {
  std::size_t numbers = 0;
  Groups call;
  const auto fit = [&] {
    if (call.empty()) return;
    m_components.clear();
    m_call.clear();
    m_fixed.clear();
    for (const Group* group : call) m_call.push_back(add_to_call(*group, free));
    take(call, (*m_fit)(m_components, m_call, m_fixed, with_covariance), with_covariance);
    call.clear();
    numbers = 0;
  };
  for (Group* group : groups) {
    const std::size_t side =
        parameters_each * (group->members.core.size() + group->members.halo.size());
    if (numbers + side * side > most_numbers) fit();
    call.push_back(group);
    numbers += side * side;
  }
  fit();
}

FitGroup ForcedFits::add_to_call(const Group& group, FreeParameters free) {
  FitGroup call{};
  call.first = static_cast<std::int32_t>(m_components.size());
  call.first_fixed = static_cast<std::int32_t>(m_fixed.size());
  call.radius = forced_radius;
  call.rms = group.rms;
  for (const auto* list : {&group.members.core, &group.members.halo})
    for (const Index i : *list) m_components.push_back(component(source(i), free));
  for (const Index i : group.members.fixed)
    if (source(i).fitted.peak != 0) m_fixed.push_back(source(i).fitted);
  call.count = static_cast<std::int32_t>(m_components.size()) - call.first;
  call.fixed = static_cast<std::int32_t>(m_fixed.size()) - call.first_fixed;
  return call;
}

FitComponent ForcedFits::component(const Source& of, FreeParameters free) const {
  FitComponent made{};
  made.start = free == FreeParameters::flux ? of.given : of.fitted;
  made.start.peak = of.fitted.peak != 0 ? of.fitted.peak : of.place.deviation;
  // A height of 0 has no derivatives along the other parameters.
  if (!(std::abs(made.start.peak) > 1e-3 * of.place.rms)) made.start.peak = 1e-3 * of.place.rms;
  made.free = free_count(free);
  const PixelEllipse given = ellipse_of(of.given);
  made.max_shift = std::fmax(m_params.beam.major, given.major / 2);
  made.min_fwhm = smallest_size * std::fmin(given.minor, m_params.beam.minor);
  made.max_fwhm = largest_size * std::fmax(given.major, m_params.beam.major);
  made.min_peak = -forced_infinity;
  made.max_peak = forced_infinity;
  return made;
}

void ForcedFits::take(const Groups& groups, const GroupFits& fits, bool with_covariance) {
  std::size_t block = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Group& group = *groups[g];
    const FitGroup& call = m_call[g];
    const std::size_t side = parameters_each * static_cast<std::size_t>(call.count);
    group.outcome = fits.outcomes[g];
    group.has_failed = group.outcome.status == FitStatus::failed;
    const auto& core = group.members.core;
    for (std::size_t k = 0; k < core.size() && !group.has_failed; ++k)
      source(core[k]).fitted = fits.fitted[static_cast<std::size_t>(call.first) + k];
    if (!with_covariance) continue;
    const std::size_t kept = parameters_each * core.size();
    group.covariance.resize(kept * kept);
    for (std::size_t i = 0; i < kept; ++i) {
      for (std::size_t j = 0; j < kept; ++j) {
        const double noise = source(core[i / parameters_each]).place.rms / group.rms *
                             (source(core[j / parameters_each]).place.rms / group.rms);
        group.covariance[i * kept + j] = noise * fits.covariance[block + i * side + j];
      }
    }
    block += side * side;
  }
}

void ForcedFits::write_rows() {
  m_result.covariance_begin = {0};
  std::int64_t id = 0;
  for (const Group& group : m_groups) {
    if (group.has_failed) {
      for (const Index i : group.members.core)
        m_result.components[source(i).row].flags |= component_no_pixels;
      continue;
    }
    ++id;
    for (std::size_t k = 0; k < group.members.core.size(); ++k)
      write_row(group, k, id, m_result.components[source(group.members.core[k]).row]);
    m_result.covariance.insert(m_result.covariance.end(), group.covariance.begin(),
                               group.covariance.end());
    m_result.covariance_begin.push_back(m_result.covariance.size());
  }
}

void ForcedFits::write_row(const Group& group, std::size_t k, std::int64_t id,
                           Component& row) const {
  const auto& core = group.members.core;
  const FitOutcome& outcome = group.outcome;
  row.gaussian = source(core[k]).fitted;
  const std::size_t side = parameters_each * core.size();
  for (std::size_t i = 0; i < parameters_each; ++i) {
    for (std::size_t j = 0; j < parameters_each; ++j)
      row.covariance[i * parameters_each + j] =
          group.covariance[(parameters_each * k + i) * side + parameters_each * k + j];
  }
  row.chi_squared = outcome.sum_of_squares / (group.rms * group.rms);
  row.residual_rms = std::sqrt(outcome.sum_of_squares / static_cast<double>(outcome.n_pix));
  row.n_pix = outcome.n_pix;
  row.group_id = id;
  row.group_size = static_cast<std::int32_t>(core.size());
  row.iterations = outcome.iterations;
  row.flags |= group.flags | outcome.flags;
  if (row.gaussian.peak < 0) row.flags |= component_negative;
  if (outcome.status == FitStatus::not_converged) row.flags |= component_not_converged;
  if (outcome.stride > 1) row.flags |= component_sampled;
}

void ForcedFits::copy_repeated_rows() {
  for (const auto& [to, from] : m_repeated) {
    Component& row = m_result.components[to];
    const Component& other = m_result.components[from];
    const Gaussian given = row.gaussian;
    const auto id = row.id;
    const std::uint32_t own = row.flags & component_beam_shape;
    row = other;
    row.id = row.island_id = id;
    row.flags = (other.flags & ~std::uint32_t{component_beam_shape}) | own | component_same_place;
    if (m_params.free != FreeParameters::flux) continue;
    const double peak = row.gaussian.peak;
    row.gaussian = given;
    row.gaussian.peak = peak;
  }
}

}  // namespace kastor::detail
