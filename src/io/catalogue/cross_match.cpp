// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/io/cross_match.hpp>
#include <limits>
#include <nanoflann.hpp>
#include <numbers>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace kastor::io {
namespace {

constexpr double k_rad_per_arcsec = std::numbers::pi / 648'000;  // [radian]

bool is_finite(const MatchPoint& p) {
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
}

double squared_distance(const MatchPoint& a, const MatchPoint& b) {
  const double x = a[0] - b[0];
  const double y = a[1] - b[1];
  const double z = a[2] - b[2];
  return x * x + y * y + z * z;
}

/// The distinct finite points of a list. Otherwise, many points in one place (such as rows without
/// a position that were set to 0) would have to be tried one by one.
class Places {
 public:
  explicit Places(std::span<const MatchPoint> points) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (is_finite(points[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
    for (const auto i : order) {
      if (m_points.empty() || points[i] != m_points.back()) {
        m_points.push_back(points[i]);
        m_begin.push_back(m_members.size());
      }
      m_members.push_back(i);
    }
    m_begin.push_back(m_members.size());
    m_next.assign(m_begin.begin(), m_begin.end() - 1);
  }

  [[nodiscard]] std::size_t size() const { return m_points.size(); }
  [[nodiscard]] const MatchPoint& point(std::size_t place) const { return m_points[place]; }
  /// Whether every point of the place has a partner.
  [[nodiscard]] bool taken(std::size_t place) const { return m_next[place] == m_begin[place + 1]; }
  /// The first point of the place without a partner.
  [[nodiscard]] std::size_t first_free(std::size_t place) const { return m_members[m_next[place]]; }
  void take_first(std::size_t place) { ++m_next[place]; }

  // The interface that nanoflann requires.
  [[nodiscard]] std::size_t kdtree_get_point_count() const { return size(); }
  [[nodiscard]] double kdtree_get_pt(std::size_t place, std::size_t axis) const {
    return m_points[place][axis];
  }
  template <class Box>
  bool kdtree_get_bbox(Box& /*box*/) const {
    return false;
  }

 private:
  std::vector<MatchPoint> m_points;
  std::vector<std::size_t> m_members;  // indices into the list, ascending within a place
  // Where the members of each place begin, and the end of the last.
  std::vector<std::size_t> m_begin;
  std::vector<std::size_t> m_next;  // first member of each place without a partner
};

using Tree = nanoflann::KDTreeSingleIndexAdaptor<
    nanoflann::L2_Simple_Adaptor<double, Places, double, std::size_t>, Places, 3, std::size_t>;

/// A result set for nanoflann (whose own ones changed their types between versions): the `most`
/// closest places that are closer than `limit2`.
class PlacesWithin {
 public:
  PlacesWithin(double limit2, std::size_t most) : m_limit2(limit2), m_most(most) {}

  // NOLINTNEXTLINE(readability-identifier-naming): nanoflann's name
  bool addPoint(double distance2, std::size_t place) {
    if (!(distance2 < worstDist())) return true;
    if (full()) {
      std::pop_heap(m_places.begin(), m_places.end());
      m_places.pop_back();
    }
    m_places.emplace_back(distance2, place);
    std::push_heap(m_places.begin(), m_places.end());
    return true;
  }
  // NOLINTNEXTLINE(readability-identifier-naming)
  [[nodiscard]] double worstDist() const { return full() ? m_places.front().first : m_limit2; }
  [[nodiscard]] bool full() const { return m_places.size() == m_most; }
  [[nodiscard]] std::size_t size() const { return m_places.size(); }
  void sort() {}

  [[nodiscard]] const std::vector<std::pair<double, std::size_t>>& places() const {
    return m_places;
  }

 private:
  double m_limit2;
  std::size_t m_most;
  std::vector<std::pair<double, std::size_t>> m_places;  // a heap with the farthest place first
};

/// The places around one point, the nearest first, fetched in increasing numbers.
class Neighbours {
 public:
  struct Place {
    double distance2;
    std::size_t place;
    bool operator<(const Place& other) const {
      return std::pair(distance2, place) < std::pair(other.distance2, other.place);
    }
  };

  /// The places at the smallest distance at which any place is free; empty if there are none.
  [[nodiscard]] std::span<const Place> nearest_free(const MatchPoint& point, const Tree& tree,
                                                    const Places& places, double radius2) {
    for (;;) {
      while (m_at < m_found.size() && places.taken(m_found[m_at].place)) ++m_at;
      if (m_at < m_found.size()) {
        const double distance2 = m_found[m_at].distance2;
        auto end = m_at + 1;
        while (end < m_found.size() && m_found[end].distance2 == distance2) ++end;
        return std::span(m_found).subspan(m_at, end - m_at);
      }
      if (m_complete) return {};
      fetch(point, tree, places, radius2);
    }
  }

 private:
  void fetch(const MatchPoint& point, const Tree& tree, const Places& places, double radius2) {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    m_count = m_count == 0 ? 4 : 4 * m_count;
    PlacesWithin nearest(with_margin(radius2), m_count);
    tree.radiusSearchCustomCallback(point.data(), nearest);
    m_complete = !nearest.full();
    if (m_complete) {
      keep(nearest, point, places, radius2);
      return;
    }
    // The tree may find any of several places at the last distance: take all of them.
    const double last = squared_distance(point, places.point(nearest.places().front().second));
    PlacesWithin within(with_margin(std::min(last, radius2)), all);
    tree.radiusSearchCustomCallback(point.data(), within);
    keep(within, point, places, std::min(last, radius2));
  }

  /// The tree rounds differently; the distances that count are those of `squared_distance()`.
  static double with_margin(double distance2) { return distance2 * (1 + 1e-9) + 1e-300; }

  void keep(const PlacesWithin& within, const MatchPoint& point, const Places& places,
            double limit2) {
    m_found.clear();
    m_at = 0;
    for (const auto& [unused, place] : within.places()) {
      const double distance2 = squared_distance(point, places.point(place));
      if (distance2 <= limit2 && !places.taken(place)) m_found.push_back({distance2, place});
    }
    std::sort(m_found.begin(), m_found.end());
  }

  std::vector<Place> m_found;
  std::size_t m_at = 0;
  std::size_t m_count = 0;
  bool m_complete = false;  // there are no others within the radius
};

struct Offer {
  double distance2;
  std::size_t first;
  std::size_t second;
  std::size_t place;
};

/// For the priority queue: the offer to be taken first is the largest.
bool operator<(const Offer& a, const Offer& b) {
  return std::tie(a.distance2, a.first, a.second) > std::tie(b.distance2, b.first, b.second);
}

}  // namespace

MatchPoint unit_vector(double ra, double dec) {
  constexpr double degree = std::numbers::pi / 180;
  const double parallel = std::cos(dec * degree);
  return {parallel * std::cos(ra * degree), parallel * std::sin(ra * degree),
          std::sin(dec * degree)};
}

double chord_of_arcsec(double arcsec) { return 2 * std::sin(arcsec * k_rad_per_arcsec / 2); }

double arcsec_of_chord(double chord) {
  return 2 * std::asin(std::min(1.0, chord / 2)) / k_rad_per_arcsec;
}

std::vector<MatchedPair> cross_match(std::span<const MatchPoint> first,
                                     std::span<const MatchPoint> second, double radius) {
  KASTOR_EXPECTS("kastor::io::cross_match", std::isfinite(radius) && radius >= 0,
                 fmt::format("the radius is {}; expected a finite number, 0 or more", radius));
  Places places(second);
  std::vector<MatchedPair> pairs;
  if (places.size() == 0) return pairs;
  const Tree tree(3, places);
  const double radius2 = radius * radius;

  std::vector<Neighbours> neighbours(first.size());
  std::priority_queue<Offer> offers;
  const auto offer = [&](std::size_t i) {
    const auto nearest = neighbours[i].nearest_free(first[i], tree, places, radius2);
    const Neighbours::Place* best = nullptr;
    for (const auto& candidate : nearest) {
      if (places.taken(candidate.place)) continue;
      if (best == nullptr || places.first_free(candidate.place) < places.first_free(best->place)) {
        best = &candidate;
      }
    }
    if (best != nullptr)
      offers.push({best->distance2, i, places.first_free(best->place), best->place});
  };
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (is_finite(first[i])) offer(i);
  }
  while (!offers.empty()) {
    const Offer next = offers.top();
    offers.pop();
    const bool free = !places.taken(next.place) && places.first_free(next.place) == next.second;
    if (!free) {
      offer(next.first);  // another pair has taken it
      continue;
    }
    places.take_first(next.place);
    pairs.push_back({next.first, next.second, std::sqrt(next.distance2)});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const MatchedPair& a, const MatchedPair& b) { return a.first < b.first; });
  return pairs;
}

}  // namespace kastor::io
