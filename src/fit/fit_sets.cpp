// SPDX-License-Identifier: Apache-2.0
#include "fit/fit_sets.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

namespace kastor::detail {
namespace {

/// For each part, those whose ellipses overlap with it, in ascending order.
using Neighbours = std::vector<std::vector<std::int32_t>>;

Neighbours neighbours_of(const IslandFit& fit, const std::vector<std::int32_t>& parts,
                         double radius, const FitRules& rules) {
  Neighbours neighbours(fit.parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const std::int32_t a = parts[i];
      const std::int32_t b = parts[j];
      if (!may_overlap(fit.part(a), radius, fit.part(b), radius, rules)) continue;
      neighbours[static_cast<std::size_t>(a)].push_back(b);
      neighbours[static_cast<std::size_t>(b)].push_back(a);
    }
  }
  return neighbours;
}

/// Takes `seed` and what is reached from it, at most `most` parts, the lowest index first, which
/// must not be taken yet. Ascending.
std::vector<std::int32_t> grow_from(std::int32_t seed, std::size_t most,
                                    const Neighbours& neighbours, std::vector<bool>& is_taken) {
  std::vector<std::int32_t> members{seed};
  std::vector<std::int32_t> reached;  // a heap, the lowest index on top
  is_taken[static_cast<std::size_t>(seed)] = true;
  for (std::int32_t next = seed;;) {
    for (const std::int32_t other : neighbours[static_cast<std::size_t>(next)]) {
      reached.push_back(other);
      std::push_heap(reached.begin(), reached.end(), std::greater<>());
    }
    do {
      if (reached.empty() || members.size() == most) {
        std::sort(members.begin(), members.end());
        return members;
      }
      std::pop_heap(reached.begin(), reached.end(), std::greater<>());
      next = reached.back();
      reached.pop_back();
    } while (is_taken[static_cast<std::size_t>(next)]);
    is_taken[static_cast<std::size_t>(next)] = true;
    members.push_back(next);
  }
}

void add_set(IslandFit& fit, const std::vector<std::int32_t>& members, bool is_split) {
  FitSet& set = fit.sets.emplace_back();
  set.is_split = is_split;
  for (const std::int32_t part : members) {
    set.add(part);
    if (is_split) fit.part(part).flags |= component_group_split;
  }
}

void split_set(IslandFit& fit, const std::vector<std::int32_t>& members,
               const Neighbours& neighbours) {
  std::vector<bool> is_taken(fit.parts.size(), false);
  for (const std::int32_t part : members) {
    if (is_taken[static_cast<std::size_t>(part)]) continue;
    add_set(fit, grow_from(part, max_fit_group, neighbours, is_taken), true);
  }
}

/// The parts of a set have the same freedom.
void free_shapes(IslandFit& fit, const FitSet& set, const FitRules& rules) {
  if (set.count < 2) return;
  for (const std::int32_t i : set.parts()) {
    fit.part(i).mode = FitMode::as_asked;
    fit.part(i).fit.free = free_parameters_of(fit.part(i), rules);
  }
}

/// Whether the ellipses of one of each set overlap.
bool sets_overlap(const IslandFit& fit, const FitSet& a, const FitSet& b, double radius,
                  const FitRules& rules) {
  for (const std::int32_t i : a.parts()) {
    for (const std::int32_t j : b.parts()) {
      if (may_overlap(fit.part(i), radius, fit.part(j), radius, rules)) return true;
    }
  }
  return false;
}

/// Both times the distance of two parts.
struct Overlap {
  double distance;
  double reach;  ///< of both ellipses along the line between the centres
};

Overlap overlap_of(const FitPart& a, double radius_a, const FitPart& b, double radius_b,
                   const FitRules& rules) {
  const double dx = b.now.x - a.now.x;
  const double dy = b.now.y - a.now.y;
  const double of_beam = rules.has_beam ? reach_along(rules.beam, dx, dy) : 0;
  const double of_a = radius_a * std::fmax(reach_along(a.now, dx, dy), of_beam);
  const double of_b = radius_b * std::fmax(reach_along(b.now, dx, dy), of_beam);
  return {dx * dx + dy * dy, fwhm_of_sigma * (of_a + of_b)};
}

/// The least distance from a member of a set, in units of what overlaps just so; infinite if none
/// overlaps.
double nearness(const IslandFit& fit, const FitSet& set, const FitPart& other, double radius,
                const FitRules& rules) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::int32_t member : set.parts()) {
    const Overlap overlap = overlap_of(fit.part(member), radius, other, radius, rules);
    if (overlap.distance >= overlap.reach) continue;
    least = std::fmin(least, overlap.distance / overlap.reach);
  }
  return least;
}

/// Whether a part is so wide that a set is fitted with it held fixed: its light hardly changes over
/// the set, and all its pixels would have to be fitted, thinned out.
bool is_too_wide(const IslandFit& fit, const FitSet& set, const FitPart& other,
                 const FitRules& rules) {
  constexpr double most_times = 3;
  const auto narrowness = [](const Gaussian& g) { return g.u * g.t; };
  double widest = narrowness(rules.has_beam ? rules.beam : fit.part(set.members[0]).now);
  for (const std::int32_t member : set.parts())
    widest = std::fmin(widest, narrowness(fit.part(member).now));
  return narrowness(other.now) * most_times * most_times < widest;
}

}  // namespace

bool may_overlap(const FitPart& a, double radius_a, const FitPart& b, double radius_b,
                 const FitRules& rules) {
  const Overlap overlap = overlap_of(a, radius_a, b, radius_b, rules);
  return overlap.distance <= overlap.reach;
}

void make_sets(IslandFit& fit, double radius, const FitRules& rules) {
  fit.sets.clear();
  std::vector<std::int32_t> fitted;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(fit.parts.size()); ++i) {
    fit.part(i).flags &= ~component_group_split;
    if (fit.part(i).is_dropped) continue;
    if (fit.part(i).mode == FitMode::estimate) {
      add_set(fit, {i}, false);
    } else {
      fitted.push_back(i);
    }
  }
  if (fitted.size() == 1) return add_set(fit, fitted, false);
  const Neighbours neighbours = neighbours_of(fit, fitted, radius, rules);
  std::vector<bool> is_taken(fit.parts.size(), false);
  for (const std::int32_t part : fitted) {
    if (is_taken[static_cast<std::size_t>(part)]) continue;
    const std::vector<std::int32_t> members = grow_from(part, fitted.size(), neighbours, is_taken);
    if (members.size() > max_fit_group) {
      split_set(fit, members, neighbours);
    } else {
      add_set(fit, members, false);
    }
  }
  for (const FitSet& set : fit.sets) free_shapes(fit, set, rules);
}

std::size_t join_sets(IslandFit& fit, std::int32_t part, double radius, const FitRules& rules) {
  FitSet joined;
  joined.add(part);
  std::size_t place = fit.sets.size();
  for (std::size_t s = 0; s < fit.sets.size(); ++s) {
    FitSet& set = fit.sets[s];
    const bool is_estimate = set.count > 0 && fit.part(set.members[0]).mode == FitMode::estimate;
    if (is_estimate || !sets_overlap(fit, joined, set, radius, rules)) continue;
    if (joined.count + set.count > max_fit_group) {
      joined.is_split = true;
      set.is_split = true;
      for (const std::int32_t i : set.parts()) fit.part(i).flags |= component_group_split;
      continue;
    }
    for (const std::int32_t i : set.parts()) joined.add(i);
    joined.is_split = joined.is_split || set.is_split;
    set = FitSet();
    place = std::min(place, s);
  }
  if (joined.is_split) {
    for (const std::int32_t i : joined.parts()) fit.part(i).flags |= component_group_split;
  }
  if (place == fit.sets.size()) fit.sets.emplace_back();
  fit.sets[place] = joined;
  free_shapes(fit, joined, rules);
  return place;
}

void set_levels(const IslandFit& fit, double radius, const FitRules& rules,
                std::span<SetRef> of_island) {
  int levels = 1;
  for (std::size_t i = 0; i < of_island.size(); ++i) {
    SetRef& ref = of_island[i];
    ref.level = 0;
    ref.levels = 1;
    const FitSet& set = fit.sets[ref.set];
    if (!set.is_split) continue;
    for (const SetRef& before : of_island.first(i)) {
      const FitSet& other = fit.sets[before.set];
      if (other.is_split && before.level >= ref.level &&
          sets_overlap(fit, set, other, radius, rules))
        ref.level = before.level + 1;
    }
    levels = std::max(levels, ref.level + 1);
  }
  for (SetRef& ref : of_island) {
    if (fit.sets[ref.set].is_split) ref.levels = levels;
  }
}

std::vector<std::int32_t> fitted_with(const IslandFit& fit, const FitSet& set, double radius,
                                      const FitRules& rules) {
  const auto members = set.parts();
  std::vector<std::int32_t> together(members.begin(), members.end());
  if (!set.is_split) return together;
  std::vector<std::pair<double, std::int32_t>> near;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(fit.parts.size()); ++i) {
    const FitPart& other = fit.part(i);
    const bool is_free = !other.is_dropped && other.mode != FitMode::estimate &&
                         other.fit.free == fit.part(members[0]).fit.free &&
                         !is_too_wide(fit, set, other, rules);
    if (!is_free || std::find(members.begin(), members.end(), i) != members.end()) continue;
    const double distance = nearness(fit, set, other, radius, rules);
    if (std::isfinite(distance)) near.emplace_back(distance, i);
  }
  std::sort(near.begin(), near.end());
  for (const auto& [distance, i] : near) {
    if (together.size() == max_fit_group) break;
    together.push_back(i);
  }
  return together;
}

void add_neighbours(const IslandFit& fit, std::span<const std::int32_t> some, double radius,
                    const FitRules& rules, std::vector<Gaussian>& fixed) {
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(fit.parts.size()); ++i) {
    const FitPart& other = fit.part(i);
    if (other.is_dropped || std::find(some.begin(), some.end(), i) != some.end()) continue;
    const bool reaches = std::any_of(some.begin(), some.end(), [&](std::int32_t member) {
      return may_overlap(fit.part(member), radius, other, light_radius, rules);
    });
    if (reaches) fixed.push_back(other.now);
  }
}

}  // namespace kastor::detail
