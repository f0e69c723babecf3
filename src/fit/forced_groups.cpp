// SPDX-License-Identifier: Apache-2.0
#include "fit/forced_groups.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "fit/ellipse_algebra.hpp"

namespace kastor::detail {
namespace {

using Index = std::int32_t;

/// Neighbours that are kept of each Gaussian, the nearest ones.
constexpr std::size_t most_neighbours = 64;
/// Places and shapes that agree within this cannot be told apart [FWHM].
constexpr double same_place = 1e-4;

const Gaussian& at(std::span<const Gaussian> gaussians, Index i) {
  return gaussians[static_cast<std::size_t>(i)];
}

/// The squared distance of a point from the centre [standard deviations].
double squared_distance(const Gaussian& gaussian, double x, double y) {
  const double s = gaussian.s(x, y);
  const double z = gaussian.z(y);
  return s * s + z * z;
}

/// How far apart two are in units of their sizes along the line between them: below 1 within
/// ellipses of radius 1 FWHM that touch.
double separation(const Gaussian& a, const Gaussian& b) {
  const double of_a = std::sqrt(squared_distance(a, b.x, b.y));
  const double of_b = std::sqrt(squared_distance(b, a.x, a.y));
  if (!(of_a > 0) || !(of_b > 0)) return 0;
  return 1 / (fwhm_of_sigma * (1 / of_a + 1 / of_b));
}

/// Calls `visit(i, j)` for all pairs whose ellipses overlap along y.
void for_overlaps_in_y(std::span<const Gaussian> gaussians, double reach,
                       const std::function<void(Index, Index)>& visit) {
  struct Extent {
    double first, last;
    Index index;
  };
  std::vector<Extent> extents;
  extents.reserve(gaussians.size());
  for (std::size_t i = 0; i < gaussians.size(); ++i) {
    const Gaussian& each = gaussians[i];
    const double half = reach * fwhm_of_sigma / each.t;
    extents.push_back({each.y - half, each.y + half, static_cast<Index>(i)});
  }
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.first < b.first || (a.first == b.first && a.index < b.index);
  });
  std::vector<Extent> open;
  for (const Extent& next : extents) {
    std::erase_if(open, [&](const Extent& each) { return each.last < next.first; });
    for (const Extent& each : open) visit(each.index, next.index);
    open.push_back(next);
  }
}

struct Neighbour {
  double separation;
  Index index;
  bool operator<(const Neighbour& other) const {
    return separation < other.separation || (separation == other.separation && index < other.index);
  }
};
using NeighbourLists = std::vector<std::vector<Neighbour>>;

void add_neighbour(std::vector<Neighbour>& list, const Neighbour& neighbour) {
  list.push_back(neighbour);
  if (list.size() < 2 * most_neighbours) return;
  std::nth_element(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(most_neighbours),
                   list.end());
  list.resize(most_neighbours);
}

class RootOf {
 public:
  explicit RootOf(std::size_t n) : m_parent(n) {
    std::iota(m_parent.begin(), m_parent.end(), Index{0});
  }
  [[nodiscard]] Index operator()(Index i) {
    while (parent(i) != i) {
      parent(i) = parent(parent(i));
      i = parent(i);
    }
    return i;
  }
  /// The smaller one becomes the root.
  void unite(Index a, Index b) {
    a = (*this)(a);
    b = (*this)(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  Index& parent(Index i) { return m_parent[static_cast<std::size_t>(i)]; }
  std::vector<Index> m_parent;
};

/// Halves a list across its longer side until no part has more than `most`.
void halve(std::span<const Gaussian> gaussians, std::span<Index> members, std::size_t most,
           std::vector<std::vector<Index>>& parts) {
  if (members.size() <= most) {
    parts.emplace_back(members.begin(), members.end());
    std::sort(parts.back().begin(), parts.back().end());
    return;
  }
  double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
  for (const Index i : members) {
    const double place[2] = {at(gaussians, i).x, at(gaussians, i).y};
    for (int axis = 0; axis < 2; ++axis) {
      low[axis] = std::min(low[axis], place[axis]);
      high[axis] = std::max(high[axis], place[axis]);
    }
  }
  const bool along_x = high[0] - low[0] >= high[1] - low[1];
  std::sort(members.begin(), members.end(), [&](Index a, Index b) {
    const double of_a = along_x ? at(gaussians, a).x : at(gaussians, a).y;
    const double of_b = along_x ? at(gaussians, b).x : at(gaussians, b).y;
    return of_a < of_b || (of_a == of_b && a < b);
  });
  const std::size_t middle = members.size() / 2;
  halve(gaussians, members.first(middle), most, parts);
  halve(gaussians, members.subspan(middle), most, parts);
}

/// A part of a large group, with its neighbours.
ForcedGroup part_of_group(std::vector<Index> core, const NeighbourLists& neighbours,
                          std::size_t most) {
  ForcedGroup group;
  group.is_split = true;
  std::vector<Index> inside = core;
  const auto is_inside = [&](Index i) {
    return std::binary_search(inside.begin(), inside.end(), i);
  };
  std::vector<Neighbour> around;
  for (const Index i : core) {
    for (const Neighbour& each : neighbours[static_cast<std::size_t>(i)])
      if (!is_inside(each.index)) around.push_back(each);
  }
  std::sort(around.begin(), around.end());
  for (const Neighbour& each : around) {
    if (core.size() + group.halo.size() >= most) break;
    if (std::find(group.halo.begin(), group.halo.end(), each.index) == group.halo.end())
      group.halo.push_back(each.index);
  }
  inside.insert(inside.end(), group.halo.begin(), group.halo.end());
  std::sort(inside.begin(), inside.end());
  for (const Index i : inside) {
    for (const Neighbour& each : neighbours[static_cast<std::size_t>(i)])
      if (!is_inside(each.index)) group.fixed.push_back(each.index);
  }
  std::sort(group.fixed.begin(), group.fixed.end());
  group.fixed.erase(std::unique(group.fixed.begin(), group.fixed.end()), group.fixed.end());
  group.core = std::move(core);
  return group;
}

}  // namespace

bool ellipses_touch(const Gaussian& a, const Gaussian& b, double reach) {
  return separation(a, b) <= reach;
}

std::vector<ForcedGroup> forced_groups(std::span<const Gaussian> gaussians, double reach,
                                       Index most) {
  RootOf root(gaussians.size());
  NeighbourLists neighbours(gaussians.size());
  for_overlaps_in_y(gaussians, reach, [&](Index i, Index j) {
    const double apart = separation(at(gaussians, i), at(gaussians, j));
    if (!(apart <= reach)) return;
    root.unite(i, j);
    add_neighbour(neighbours[static_cast<std::size_t>(i)], {apart, j});
    add_neighbour(neighbours[static_cast<std::size_t>(j)], {apart, i});
  });
  std::vector<std::vector<Index>> members(gaussians.size());
  for (Index i = 0; i < static_cast<Index>(gaussians.size()); ++i)
    members[static_cast<std::size_t>(root(i))].push_back(i);

  std::vector<ForcedGroup> groups;
  const auto limit = static_cast<std::size_t>(most);
  for (auto& all : members) {
    if (all.empty()) continue;
    if (all.size() <= limit) {
      groups.push_back({std::move(all), {}, {}, false});
      continue;
    }
    std::vector<std::vector<Index>> parts;
    halve(gaussians, all, std::max<std::size_t>(limit / 2, 1), parts);
    for (auto& core : parts) groups.push_back(part_of_group(std::move(core), neighbours, limit));
  }
  std::sort(groups.begin(), groups.end(), [](const ForcedGroup& a, const ForcedGroup& b) {
    return a.core.front() < b.core.front();
  });
  return groups;
}

std::vector<Index> first_at_place(std::span<const Gaussian> gaussians) {
  std::vector<Index> first(gaussians.size());
  std::iota(first.begin(), first.end(), Index{0});
  const auto is_same = [](const Gaussian& a, const Gaussian& b) {
    const auto near = [](double p, double q, double scale) {
      return std::abs(p - q) <= same_place * scale;
    };
    return squared_distance(a, b.x, b.y) <= std::pow(same_place * fwhm_of_sigma, 2) &&
           near(a.u, b.u, a.u) && near(a.t, b.t, a.t) && near(a.w, b.w, a.u + a.t);
  };
  for_overlaps_in_y(gaussians, same_place, [&](Index i, Index j) {
    if (!is_same(at(gaussians, i), at(gaussians, j))) return;
    auto& later = first[static_cast<std::size_t>(std::max(i, j))];
    later = std::min({later, i, j});
  });
  // Chains of places that agree pairwise lead to one.
  for (auto& each : first) each = first[static_cast<std::size_t>(each)];
  return first;
}

}  // namespace kastor::detail
