// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/elementary.hpp"
#include "fit/fit_rounds.hpp"

namespace kastor::detail {
namespace {

constexpr int split_rounds = 6;

/// Appends the boxes of an island that are searched for a peak each: about one for each set.
void add_boxes(const IslandFit& fit, std::vector<ResidualTask>& boxes) {
  int n = 1;
  while (n * n * max_fit_group < fit.count()) ++n;
  const auto edge = [n](std::int32_t low, std::int32_t high, int k) {
    return static_cast<std::int32_t>(low + (std::int64_t{high} - low + 1) * k / n);
  };
  const Island& island = fit.island;
  for (int k = 0; k < n * n; ++k) {
    ResidualTask box{};
    box.x_min = edge(island.x_min, island.x_max, k % n);
    box.x_max = edge(island.x_min, island.x_max, k % n + 1) - 1;
    box.y_min = edge(island.y_min, island.y_max, k / n);
    box.y_max = edge(island.y_min, island.y_max, k / n + 1) - 1;
    boxes.push_back(box);
  }
}

/// What the parts of an island add up to at a pixel.
double model_at(const IslandFit& fit, double x, double y) {
  double sum = 0;
  for (const FitPart& part : fit.parts) {
    const double s = part.now.s(x, y);
    const double z = part.now.z(y);
    if (!part.is_dropped) sum += part.now.peak * core::exp(-0.5 * (s * s + z * z));
  }
  return sum;
}

}  // namespace

void FitRounds::complete_split() {
  const std::vector<std::size_t> islands = searched_islands(true);
  std::vector<std::size_t> searched = islands;
  for (int round = 0; round < split_rounds && !searched.empty(); ++round) {
    searched = add_to_split(searched);
    (void)fit_islands(searched, Pass::rough);
  }
  drop_weak(fit_islands(islands, Pass::second));
}

std::vector<SetRef> FitRounds::fit_islands(const std::vector<std::size_t>& islands, Pass pass) {
  std::vector<SetRef> sets;
  for (const std::size_t i : islands) {
    IslandFit& fit = (*m_islands)[i];
    make_sets(fit, second_radius, m_rules);
    for (std::size_t s = 0; s < fit.sets.size(); ++s) {
      if (!fit.is_estimate(fit.sets[s])) sets.push_back({i, s});
    }
  }
  fit_pass(sets, pass);
  fit_both(step_down(sets));
  std::erase_if(sets,
                [this](const SetRef& ref) { return island_of(ref).is_estimate(set_of(ref)); });
  return sets;
}

std::vector<std::size_t> FitRounds::add_to_split(const std::vector<std::size_t>& searched) {
  m_tasks.clear();
  m_models.clear();
  std::vector<ResidualTask> boxes;
  std::vector<std::size_t> island_of_task;
  for (const std::size_t i : searched) {
    const IslandFit& fit = (*m_islands)[i];
    boxes.clear();
    add_boxes(fit, boxes);
    for (const ResidualTask& box : boxes) add_task(fit, box);
    island_of_task.resize(m_tasks.size(), i);
  }
  const std::span<const ResidualPeak> peaks = m_calls.find_residuals(m_tasks, m_models);
  std::vector<std::size_t> grown;
  std::size_t first_new = 0;
  for (std::size_t k = 0; k < peaks.size(); ++k) {
    const std::size_t i = island_of_task[k];
    IslandFit& fit = (*m_islands)[i];
    if (k == 0 || island_of_task[k - 1] != i) first_new = fit.parts.size();
    const bool is_added = add_to_split(fit, first_new, peaks[k]);
    if (is_added && (grown.empty() || grown.back() != i)) grown.push_back(i);
  }
  return grown;
}

bool FitRounds::add_to_split(IslandFit& fit, std::size_t first_new, const ResidualPeak& peak) {
  if (!is_worth_a_part(fit, peak)) return false;
  const auto x = static_cast<double>(peak.x);
  const auto y = static_cast<double>(peak.y);
  // Those around it have taken much of its light: it begins like them, as high as the image is.
  FitPart part =
      part_at(point_shape_of(fit, m_rules), x, y, peak.value + model_at(fit, x, y), peak.rms);
  part.flags = component_from_residual;
  // A peak on the border of two boxes is found in both.
  for (std::size_t i = first_new; i < fit.parts.size(); ++i) {
    if (may_overlap(part, first_radius, fit.parts[i], first_radius, m_rules)) return false;
  }
  begin_part(fit, m_rules, part);
  fit.parts.push_back(part);
  return true;
}

}  // namespace kastor::detail
