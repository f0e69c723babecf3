// SPDX-License-Identifier: Apache-2.0
#include "fit/fit_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace kastor::detail {
namespace {

constexpr int residual_rounds = 3;
/// Larger islands are not searched for peaks of the residuals.
constexpr std::int64_t searched_area = std::int64_t{1} << 22;
constexpr std::int64_t searched_pixels = 65536;

std::int64_t box_area_of(const Island& island) {
  return (std::int64_t{island.x_max} - island.x_min + 1) *
         (std::int64_t{island.y_max} - island.y_min + 1);
}

/// The member that begins lowest.
int faintest_of(const IslandFit& fit, const FitSet& set) {
  int faintest = 0;
  for (int i = 1; i < set.count; ++i) {
    const auto at = [&](int k) {
      return fit.part(set.members[static_cast<std::size_t>(k)]).at_peak.peak;
    };
    if (at(i) <= at(faintest)) faintest = i;
  }
  return faintest;
}

void drop_member(IslandFit& fit, FitSet& set, int member) {
  const auto begin = set.members.begin();
  fit.part(set.members[static_cast<std::size_t>(member)]).is_dropped = true;
  std::copy(begin + member + 1, begin + set.count, begin + member);
  --set.count;
  set.covariance.clear();  // it was of more components
}

/// The highest peak of the components whose Gaussian has more than 1 % of it at a pixel; 0 if there
/// is none.
double highest_near(const IslandFit& fit, const ResidualPeak& at) {
  constexpr double most_square = 9.210340371976184;  // 2 ln 100
  const auto x = static_cast<double>(at.x);
  const auto y = static_cast<double>(at.y);
  double highest = 0;
  for (const FitPart& part : fit.parts) {
    const double s = part.now.s(x, y);
    const double z = part.now.z(y);
    if (!part.is_dropped && s * s + z * z < most_square)
      highest = std::fmax(highest, part.now.peak);
  }
  return highest;
}

/// The peak over its error of the best component of an island.
double best_significance(const IslandFit& fit) {
  double best = 0;
  for (const FitSet& set : fit.sets) {
    if (fit.is_estimate(set)) continue;
    for (int i = 0; i < set.count; ++i) best = std::fmax(best, set.significance(fit.parts, i));
  }
  return best;
}

}  // namespace

FitRounds::FitRounds(const FitRules& rules, FitCalls calls)
    : m_rules(rules), m_calls(std::move(calls)) {}

void FitRounds::run(std::vector<IslandFit>& islands) {
  m_islands = &islands;
  fit_first();
  fit_again();
  drop_weak(all_sets());
  add_residuals();
  complete_split();
}

std::vector<SetRef> FitRounds::all_sets() const {
  std::vector<SetRef> sets;
  for (std::size_t i = 0; i < m_islands->size(); ++i) {
    const IslandFit& fit = (*m_islands)[i];
    for (std::size_t s = 0; s < fit.sets.size(); ++s) {
      if (fit.sets[s].count > 0 && !fit.is_estimate(fit.sets[s])) sets.push_back({i, s});
    }
  }
  return sets;
}

void FitRounds::begin(const std::vector<SetRef>& sets) {
  for (const SetRef& ref : sets) {
    IslandFit& fit = island_of(ref);
    for (const std::int32_t i : set_of(ref).parts()) begin_part(fit, m_rules, fit.part(i));
  }
}

// ------------------------------------------------------------------------------ steps of a fit

void FitRounds::fit_first() {
  for (IslandFit& fit : *m_islands) {
    for (FitPart& part : fit.parts) {
      if (part.mode != FitMode::estimate) begin_part(fit, m_rules, part);
    }
    make_sets(fit, first_radius, m_rules);
  }
  for (std::vector<SetRef> sets = all_sets(); !sets.empty(); sets = step_down(sets)) {
    begin(sets);
    fit_pass(sets, Pass::first);
  }
}

void FitRounds::fit_again() {
  for (IslandFit& fit : *m_islands) {
    if (fit.parts.size() > 1) make_sets(fit, second_radius, m_rules);
  }
  std::vector<SetRef> sets = all_sets();
  fit_pass(sets, Pass::second);
  const std::vector<SetRef> failed = step_down(sets);
  fit_both(failed);
}

void FitRounds::fit_both(const std::vector<SetRef>& sets) {
  for (std::vector<SetRef> left = sets; !left.empty(); left = step_down(left)) {
    begin(left);
    fit_pass(left, Pass::first);
    std::vector<SetRef> second;
    for (const SetRef& ref : left) {
      if (!has_failed(ref)) second.push_back(ref);
    }
    fit_pass(second, Pass::second);
  }
}

std::vector<SetRef> FitRounds::step_down(const std::vector<SetRef>& sets) {
  std::vector<SetRef> left;
  for (const SetRef& ref : sets) {
    if (has_failed(ref) && step_down(island_of(ref), set_of(ref))) left.push_back(ref);
  }
  return left;
}

bool FitRounds::step_down(IslandFit& fit, FitSet& set) {
  if (set.count > 1) {
    drop_member(fit, set, faintest_of(fit, set));
    return true;
  }
  FitPart& part = fit.part(set.members[0]);
  const bool can_fix_shape = m_rules.has_beam && m_rules.is_shape_free;
  if (part.mode == FitMode::as_asked && can_fix_shape) {
    part.mode = FitMode::beam_shape;
    return true;
  }
  part.mode = FitMode::as_asked;  // the estimate is the guess, be it wider than the beam
  part.now = guess_of(fit, part, m_rules);
  part.mode = FitMode::estimate;
  return false;
}

// ------------------------------------------------------------------------- calls of the kernels

void FitRounds::fit_pass(std::vector<SetRef>& sets, Pass pass) {
  const double radius = pass == Pass::first ? first_radius : second_radius;
  int rounds = 1;
  for (auto begin = sets.begin(); begin != sets.end();) {
    const auto end = std::find_if(begin, sets.end(),
                                  [&](const SetRef& ref) { return ref.island != begin->island; });
    set_levels((*m_islands)[begin->island], radius, m_rules, {begin, end});
    for (; begin != end; ++begin)
      rounds = std::max(rounds, begin->levels > 1 ? 2 * begin->levels : 1);
  }
  for (int round = 0; round < rounds; ++round) {
    for (const bool is_last : {false, true}) {
      m_due.clear();
      for (const SetRef& ref : sets) {
        if (ref.is_due(round) && ref.is_last(round) == is_last) m_due.push_back(ref);
      }
      if (!m_due.empty()) fit_round(m_due, pass, is_last && pass == Pass::second);
    }
  }
}

void FitRounds::fit_round(const std::vector<SetRef>& due, Pass pass, bool with_covariance) {
  m_components.clear();
  m_groups.clear();
  m_fixed.clear();
  for (const SetRef& ref : due) add_group(ref, pass);
  const GroupFits& fits = m_calls.fit(m_components, m_groups, m_fixed, with_covariance);
  std::size_t component = 0;
  std::size_t first = 0;  // of the group's covariance
  for (std::size_t g = 0; g < due.size(); ++g) {
    FitSet& set = set_of(due[g]);
    IslandFit& fit = island_of(due[g]);
    set.outcome = fits.outcomes[g];
    const auto parts = set.parts();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (set.outcome.status != FitStatus::failed)
        fit.part(parts[i]).now = fits.fitted[component + i];
    }
    const auto together = static_cast<std::size_t>(m_groups[g].count);
    component += together;
    if (!with_covariance) continue;
    // Of the matrix, the block of its own parts, which come first.
    const std::size_t size = gaussian_parameters * parts.size();
    const std::size_t of_all = gaussian_parameters * together;
    set.covariance.clear();
    for (std::size_t row = 0; row < size; ++row) {
      const auto begin =
          fits.covariance.begin() + static_cast<std::ptrdiff_t>(first + row * of_all);
      set.covariance.insert(set.covariance.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
    }
    first += of_all * of_all;
  }
}

void FitRounds::add_group(const SetRef& ref, Pass pass) {
  const IslandFit& fit = island_of(ref);
  const FitSet& set = set_of(ref);
  FitGroup group{};
  group.first = static_cast<std::int32_t>(m_components.size());
  const std::vector<std::int32_t> together = fitted_with(fit, set, second_radius, m_rules);
  group.count = static_cast<std::int32_t>(together.size());
  group.first_fixed = static_cast<std::int32_t>(m_fixed.size());
  group.label = fit.label;
  group.x_min = fit.island.x_min;
  group.x_max = fit.island.x_max;
  group.y_min = fit.island.y_min;
  group.y_max = fit.island.y_max;
  bool is_free = false;
  double brightest = 0;
  for (const std::int32_t i : together) {
    const FitPart& part = fit.part(i);
    m_components.push_back(part.fit);
    m_components.back().start = part.now;
    is_free = is_free || part.fit.free == 6;
    if (i == set.members[0] || part.now.peak > brightest) {
      brightest = part.now.peak;
      group.rms = part.rms;
    }
  }
  const bool is_whole_island = group.count == fit.count();
  if (pass == Pass::first) {
    group.radius = first_radius;
    group.island_radius = is_whole_island ? whole_island_radius : near_island_radius;
  } else {
    group.radius = is_free ? second_radius : first_radius;
    group.island_radius = group.count > 1 ? near_island_radius : 0;
  }
  if (!is_whole_island)
    add_neighbours(fit, together, std::fmax(group.radius, group.island_radius), m_rules, m_fixed);
  group.fixed = static_cast<std::int32_t>(m_fixed.size()) - group.first_fixed;
  m_groups.push_back(group);
}

// ----------------------------------------------------------------------------- model selection

void FitRounds::drop_weak(std::vector<SetRef> sets) {
  while (!sets.empty()) {
    std::vector<SetRef> fitted;
    for (const SetRef& ref : sets) {
      if (!drop_from(island_of(ref), set_of(ref))) continue;
      if (set_of(ref).count > 0) fitted.push_back(ref);
    }
    fit_both(fitted);
    std::erase_if(fitted,
                  [this](const SetRef& ref) { return island_of(ref).is_estimate(set_of(ref)); });
    sets = std::move(fitted);
  }
}

bool FitRounds::drop_from(IslandFit& fit, FitSet& set) const {
  if (fit.count() < 2) return false;
  int weakest = 0;
  for (int i = 1; i < set.count; ++i) {
    if (set.significance(fit.parts, i) <= set.significance(fit.parts, weakest)) weakest = i;
  }
  const double significance = set.significance(fit.parts, weakest);
  if (significance >= m_rules.params.min_significance) return false;
  // The last one of an island stays, whatever it is.
  if (set.count == 1 && significance >= best_significance(fit)) return false;
  drop_member(fit, set, weakest);
  return true;
}

std::vector<std::size_t> FitRounds::searched_islands(bool are_split) {
  std::vector<std::size_t> searched;
  for (std::size_t i = 0; i < m_islands->size(); ++i) {
    IslandFit& fit = (*m_islands)[i];
    if (box_area_of(fit.island) > searched_area || fit.island.n_pix > searched_pixels) {
      fit.flags |= component_capped;
      continue;
    }
    const bool has_estimate = std::any_of(fit.parts.begin(), fit.parts.end(), [](const auto& part) {
      return !part.is_dropped && part.mode == FitMode::estimate;
    });
    if (!has_estimate && fit.has_split() == are_split) searched.push_back(i);
  }
  return searched;
}

void FitRounds::add_task(const IslandFit& fit, const ResidualTask& box) {
  ResidualTask task = box;
  task.label = fit.label;
  task.first = static_cast<std::int64_t>(m_models.size());
  for (const FitPart& part : fit.parts) {
    if (!part.is_dropped) m_models.push_back(part.now);
  }
  task.count = static_cast<std::int32_t>(static_cast<std::int64_t>(m_models.size()) - task.first);
  m_tasks.push_back(task);
}

std::span<const ResidualPeak> FitRounds::find_residuals(const std::vector<std::size_t>& searched) {
  m_tasks.clear();
  m_models.clear();
  for (const std::size_t i : searched) {
    const IslandFit& fit = (*m_islands)[i];
    const Island& island = fit.island;
    add_task(fit, {island.x_min, island.x_max, island.y_min, island.y_max, 0, 0, 0});
  }
  return m_calls.find_residuals(m_tasks, m_models);
}

bool FitRounds::is_worth_a_part(const IslandFit& fit, const ResidualPeak& peak) const {
  const FitParams& params = m_rules.params;
  return std::isfinite(peak.value) && peak.rms > 0 && peak.value > 0 &&
         peak.value >= params.residual_snr * peak.rms &&
         peak.value >= params.residual_fraction * fit.peak &&
         peak.value >= params.near_residual_fraction * highest_near(fit, peak) &&
         fit.count() < params.max_components;
}

bool FitRounds::is_good(const IslandFit& fit, const FitSet& set) const {
  if (set.outcome.status != FitStatus::converged) return false;
  for (int i = 0; i < set.count; ++i) {
    if (!(set.significance(fit.parts, i) >= m_rules.params.min_significance)) return false;
  }
  return true;
}

SetRef FitRounds::add_part(std::size_t island, const ResidualPeak& peak) {
  IslandFit& fit = (*m_islands)[island];
  fit.parts.push_back(part_at(point_shape_of(fit, m_rules), static_cast<double>(peak.x),
                              static_cast<double>(peak.y), peak.value, peak.rms));
  fit.parts.back().flags = component_from_residual;
  const auto part = static_cast<std::int32_t>(fit.parts.size()) - 1;
  return {island, join_sets(fit, part, second_radius, m_rules)};
}

void FitRounds::add_residuals() {
  std::vector<std::size_t> searched = searched_islands(false);
  std::vector<Trial> trials;  // of those searched; none in the first round
  for (int round = 0; !searched.empty(); ++round) {
    const std::span<const ResidualPeak> peaks = find_residuals(searched);
    std::vector<SetRef> sets;
    std::vector<Trial> next;
    for (std::size_t k = 0; k < searched.size(); ++k) {
      IslandFit& fit = (*m_islands)[searched[k]];
      const ResidualPeak& peak = peaks[k];
      // Least squares of other pixels may fit those of the island worse.
      if (round > 0 && !(peak.sum_of_squares < trials[k].sum_of_squares)) {
        fit = std::move(trials[k].before);
      } else if (round < residual_rounds && is_worth_a_part(fit, peak)) {
        next.push_back({fit, peak.sum_of_squares});
        sets.push_back(add_part(searched[k], peak));
      }
    }
    begin(sets);
    fit_pass(sets, Pass::first);
    std::vector<SetRef> second;
    std::copy_if(sets.begin(), sets.end(), std::back_inserter(second),
                 [this](const SetRef& ref) { return !has_failed(ref); });
    fit_pass(second, Pass::second);
    searched.clear();
    trials.clear();
    for (std::size_t k = 0; k < sets.size(); ++k) {
      if (is_good(island_of(sets[k]), set_of(sets[k]))) {
        searched.push_back(sets[k].island);
        trials.push_back(std::move(next[k]));
      } else {
        island_of(sets[k]) = std::move(next[k].before);
      }
    }
  }
}

}  // namespace kastor::detail
