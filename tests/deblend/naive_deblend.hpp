// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_DEBLEND_NAIVE_DEBLEND_HPP
#define KASTOR_TESTS_DEBLEND_NAIVE_DEBLEND_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "island_scenes.hpp"
#include "naive.hpp"

/// The reference of deblending: each island is flooded from its highest pixel down, pixel by pixel,
/// and what a rule asks for is counted anew at every saddle.
namespace testing_support {

class NaiveDeblend {
 public:
  kastor::IslandPeaks peaks;
  HostGrid<std::int64_t> children;  ///< the number of the peak of each pixel, from 1

  /// `labels`: 1..N, of the islands, in their order.
  template <class T>
  NaiveDeblend(const Scene<T>& scene, std::span<const kastor::Island> islands,
               const HostGrid<std::int64_t>& labels, const kastor::DeblendParams& params,
               std::size_t most_basins = 65536)
      : children(labels.ny, labels.nx), m_params(params), m_labels(labels), m_most(most_basins) {
    for (const kastor::Island& island : islands) {
      const auto label = static_cast<std::int64_t>(&island - islands.data()) + 1;
      const bool is_below = (island.flags & kastor::island_negative) != 0;
      m_pixels.clear();
      for (std::int64_t y = island.y_min; y <= island.y_max; ++y) {
        for (std::int64_t x = island.x_min; x <= island.x_max; ++x) {
          if (labels(y, x) != label) continue;
          const double level = scene.background.level(y, x);
          const auto value = static_cast<double>(scene.image(y, x));
          m_pixels.push_back({is_below ? level - value : value - level, y, x});
        }
      }
      flood();
      const auto rms = [&](const Pixel& p) { return scene.background.rms(p.y, p.x); };
      add_peaks(island.id, rms);
    }
  }

 private:
  struct Pixel {
    double d;
    std::int64_t y, x;
    std::size_t basin = 0;
  };
  struct Branch {
    const Pixel* peak;
    double saddle = -std::numeric_limits<double>::infinity();
    std::size_t top;    ///< the highest peak of the part of the tree that it is in
    std::size_t owner;  ///< the branch that it joined, or itself
  };

  /// The pixels that touch one and are higher.
  [[nodiscard]] std::vector<std::size_t> higher_neighbours(std::size_t i) const {
    std::vector<std::size_t> found;
    const Pixel& p = m_pixels[i];
    for (std::int64_t dy = -1; dy <= 1; ++dy) {
      for (std::int64_t dx = -1; dx <= 1; ++dx) {
        if (m_params.connectivity == kastor::Connectivity::four && dy != 0 && dx != 0) continue;
        const std::int64_t y = p.y + dy, x = p.x + dx;
        if (y < 0 || x < 0 || y >= m_labels.ny || x >= m_labels.nx) continue;
        if (m_labels(y, x) != m_labels(p.y, p.x)) continue;
        const std::size_t j = m_number(y, x);
        if (j < i) found.push_back(j);
      }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  /// Sorts the pixels and divides them into basins.
  void flood() {
    std::stable_sort(m_pixels.begin(), m_pixels.end(),
                     [](const Pixel& a, const Pixel& b) { return a.d > b.d; });
    if (m_number.ny == 0) m_number = HostGrid<std::size_t>(m_labels.ny, m_labels.nx);
    for (std::size_t i = 0; i < m_pixels.size(); ++i) m_number(m_pixels[i].y, m_pixels[i].x) = i;
    m_branches.clear();
    for (std::size_t i = 0; i < m_pixels.size(); ++i) {
      const auto above = higher_neighbours(i);
      if (above.empty()) {
        const std::size_t b = m_branches.size();
        m_branches.push_back({&m_pixels[i], -std::numeric_limits<double>::infinity(), b, b});
        m_pixels[i].basin = b;
      } else {
        m_pixels[i].basin = m_pixels[above[0]].basin;
      }
    }
    m_is_capped = m_branches.size() > m_most;
    while (m_is_capped && merge_lowest()) {
    }
  }

  /// One round; whether anything changed.
  bool merge_lowest() {
    std::map<std::size_t, std::size_t> link;
    for (std::size_t i = 0; i < m_pixels.size(); ++i) {
      for (const std::size_t j : higher_neighbours(i)) {
        const auto [high, low] = std::minmax(m_pixels[i].basin, m_pixels[j].basin);
        if (high == low || low < m_most) continue;
        const auto at = link.emplace(low, high).first;
        at->second = std::min(at->second, high);
      }
    }
    for (Pixel& p : m_pixels) {
      for (auto at = link.find(p.basin); at != link.end(); at = link.find(p.basin))
        p.basin = at->second;
    }
    return !link.empty();
  }

  template <class Rms>
  void add_peaks(std::int64_t id, const Rms& rms) {
    m_total = 0;
    for (const Pixel& p : m_pixels) m_total += p.d;
    m_pixels_of.assign(m_branches.size(), 0);
    for (const Pixel& p : m_pixels) ++m_pixels_of[p.basin];
    for (std::size_t i = 0; i < m_pixels.size(); ++i) {
      std::set<std::pair<std::size_t, std::size_t>> meeting;
      for (const std::size_t j : higher_neighbours(i))
        meeting.insert(std::minmax(m_pixels[i].basin, m_pixels[j].basin));
      for (const auto& [a, b] : meeting) meet(a, b, i, rms);
    }
    std::vector<std::int64_t> number(m_branches.size());
    for (std::size_t b = 0; b < m_branches.size(); ++b) {
      const Branch& branch = m_branches[b];
      if (branch.owner != b || m_pixels_of[b] == 0) continue;
      const Pixel& p = *branch.peak;
      peaks.push_back({id, static_cast<std::int32_t>(p.x), static_cast<std::int32_t>(p.y),
                       m_pixels_of[b], p.d, rms(p), branch.saddle, m_is_capped});
      number[b] = static_cast<std::int64_t>(peaks.size());
    }
    for (const Pixel& p : m_pixels) children(p.y, p.x) = number[owner(p.basin)];
  }

  [[nodiscard]] std::size_t owner(std::size_t b) const {
    while (m_branches[b].owner != b) b = m_branches[b].owner;
    return b;
  }
  [[nodiscard]] std::size_t top(std::size_t b) const {
    while (m_branches[b].top != b) b = m_branches[b].top;
    return b;
  }

  template <class Rms>
  [[nodiscard]] bool stands(std::size_t b, std::size_t at, const Rms& rms) const {
    const double saddle = m_pixels[at].d, peak = m_branches[b].peak->d;
    const double noise = rms(*m_branches[b].peak);
    if (!(peak > saddle) || peak - saddle < m_params.prominence * noise) return false;
    if (peak < m_params.min_peak * noise || m_pixels_of[b] < m_params.min_size) return false;
    if (m_params.contrast == 0 && m_params.min_pixels == 1) return true;
    long double light = 0;
    std::int64_t n = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (owner(m_pixels[i].basin) == b) {
        light += m_pixels[i].d - saddle;
        ++n;
      }
    }
    return n >= m_params.min_pixels && light > m_params.contrast * m_total;
  }

  template <class Rms>
  void meet(std::size_t a, std::size_t b, std::size_t at, const Rms& rms) {
    const std::size_t high = std::min(top(a), top(b)), low = std::max(top(a), top(b));
    if (high == low) return;
    const std::size_t across = owner(top(a) == low ? b : a);
    m_branches[low].top = high;
    if (stands(high, at, rms) && stands(low, at, rms)) {
      m_branches[low].saddle = m_pixels[at].d;
      return;
    }
    const std::size_t whole = std::min(low, across), part = std::max(low, across);
    m_branches[whole].saddle = m_branches[across].saddle;
    m_branches[part].owner = whole;
    m_pixels_of[whole] += std::exchange(m_pixels_of[part], 0);
  }

  kastor::DeblendParams m_params;
  const HostGrid<std::int64_t>& m_labels;
  std::size_t m_most;
  bool m_is_capped = false;
  std::vector<Pixel> m_pixels;  ///< of the island, the highest first
  HostGrid<std::size_t> m_number;
  std::vector<Branch> m_branches;
  std::vector<std::int64_t> m_pixels_of;
  long double m_total = 0;
};

}  // namespace testing_support

#endif
