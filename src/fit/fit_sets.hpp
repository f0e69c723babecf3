// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_FIT_SETS_HPP
#define KASTOR_FIT_FIT_SETS_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/gaussian.hpp>
#include <span>
#include <vector>

#include "fit/island_fit.hpp"

/// Which components are fitted together.
namespace kastor::detail {

/// Regions of both passes [FWHM].
inline constexpr double first_radius = 0.6;
inline constexpr double second_radius = 0.8;
inline constexpr double near_island_radius = 1.5;
inline constexpr double whole_island_radius = 1e9;
/// What the light of a component is subtracted within.
inline constexpr double light_radius = 2.5;

/// Whether the ellipses of two parts, of these radii [FWHM], may overlap: their projections on the
/// line between the centres do. Symmetric. The ellipse of a part is that of its shape and that of
/// the beam, whichever is larger along the line.
[[nodiscard]] bool may_overlap(const FitPart& a, double radius_a, const FitPart& b, double radius_b,
                               const FitRules& rules);

/// Puts the parts of an island that are not dropped into sets: those whose ellipses of this radius
/// overlap, directly or through others, together. More than `max_fit_group` are split: from the
/// brightest part on, with its neighbours and theirs, the brightest first. Parts that are estimates
/// are alone. Those whose shape was fixed get another try if they are not.
void make_sets(IslandFit& fit, double radius, const FitRules& rules);

/// Puts a new part into a set, with the sets that it overlaps if they are not too many; returns the
/// index of the set. The others become empty.
[[nodiscard]] std::size_t join_sets(IslandFit& fit, std::int32_t part, double radius,
                                    const FitRules& rules);

/// When a set is fitted: in the rounds `level`, and again `levels` later if there are more.
struct SetRef {
  std::size_t island, set;
  int level = 0;   ///< rounds that it waits for earlier sets which it overlaps
  int levels = 1;  ///< of all sets of the island

  [[nodiscard]] bool is_due(int round) const {
    return round == level || (levels > 1 && round == levels + level);
  }
  [[nodiscard]] bool is_last(int round) const { return levels == 1 || round >= levels; }
};

/// Sets the levels of some sets of one island.
void set_levels(const IslandFit& fit, double radius, const FitRules& rules,
                std::span<SetRef> of_island);

/// The parts that are fitted with a set: its own, and if it was split those that overlap with them
/// most, up to `max_fit_group`, unless they are much wider. These are free in the fit, but it is
/// their own set that moves them.
[[nodiscard]] std::vector<std::int32_t> fitted_with(const IslandFit& fit, const FitSet& set,
                                                    double radius, const FitRules& rules);

/// Appends the parts that are not among some, but whose light reaches their region.
void add_neighbours(const IslandFit& fit, std::span<const std::int32_t> some, double radius,
                    const FitRules& rules, std::vector<Gaussian>& fixed);

}  // namespace kastor::detail

#endif
