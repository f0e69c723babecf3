// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SOURCE_FINDER_RANK_BORDERS_HPP
#define KASTOR_SOURCE_FINDER_RANK_BORDERS_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/communicator.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "core/ranks.hpp"
#include "measure/source_sums.hpp"

/// Components that lie on several ranks, each of which has consecutive rows. Only components with
/// pixels in the first or last row of a rank can go on in another, so every rank tells the others
/// of these, and all unite them in the same way. The component belongs to the rank that has its
/// first pixel.
namespace kastor::detail {

/// A run in the first or the last row of a rank.
struct BorderRun {
  std::int32_t begin, end;
  std::uint32_t label;  ///< its component on the rank, from 1
};

/// What a rank has of a component in its first or last row.
template <class T>
struct BorderPart {
  std::uint32_t label;
  std::int32_t x, y;  ///< its first pixel in raster order
  SourceExtents<T> extents;
};

/// The rows of a rank's border.
template <class T>
struct RankBorder {
  std::vector<BorderRun> first_row, last_row;
  std::vector<BorderPart<T>> parts;  ///< by label
};

/// A part of this rank that is joined with parts of other ranks.
template <class T>
struct JoinedPart {
  std::uint32_t label;
  int owner;             ///< the rank that the component belongs to
  std::uint32_t of;      ///< the component's label there
  std::int32_t top_row;  ///< row of its first pixel
  SourceExtents<T> extents;
};

/// Finds what is joined. Collective.
template <class T>
class RankBorders {
 public:
  /// \param has_rows  whether this rank has any
  RankBorders(Communicator& ranks, const RankBorder<T>& mine, bool has_rows)
      : m_ranks(ranks),
        m_first(core::gather_lists<BorderRun>(ranks, mine.first_row)),
        m_last(core::gather_lists<BorderRun>(ranks, mine.last_row)),
        m_parts(core::gather_lists<BorderPart<T>>(ranks, mine.parts)) {
    const char has = has_rows ? 1 : 0;
    const auto with_rows = core::gather_lists<char>(ranks, {&has, 1});
    m_offset.assign(1, 0);
    for (const auto& parts : m_parts) m_offset.push_back(m_offset.back() + parts.size());
    m_parent.resize(m_offset.back());
    std::iota(m_parent.begin(), m_parent.end(), std::size_t{0});
    std::size_t above = m_parts.size();
    for (std::size_t rank = 0; rank < m_parts.size(); ++rank) {
      if (with_rows[rank].front() == 0) continue;
      if (above < m_parts.size()) m_seams.push_back({above, rank});
      above = rank;
    }
  }

  /// The parts of this rank that go on elsewhere, with the extents of the whole components.
  [[nodiscard]] std::vector<JoinedPart<T>> joined(bool at_corners) {
    for (const Seam& seam : m_seams) unite(seam, at_corners ? 1 : 0);
    struct Whole {
      std::size_t members = 0, owner = 0;
      SourceExtents<T> extents;
      const BorderPart<T>* first = nullptr;
    };
    std::vector<Whole> wholes(m_parent.size());
    for (std::size_t rank = 0; rank < m_parts.size(); ++rank) {
      for (std::size_t i = 0; i < m_parts[rank].size(); ++i) {
        const BorderPart<T>& part = m_parts[rank][i];
        Whole& whole = wholes[find(m_offset[rank] + i)];
        ++whole.members;
        whole.extents += part.extents;
        if (whole.first != nullptr && !is_before(part, *whole.first)) continue;
        whole.first = &part;
        whole.owner = rank;
      }
    }
    std::vector<JoinedPart<T>> result;
    const auto me = static_cast<std::size_t>(m_ranks.rank());
    for (std::size_t i = 0; i < m_parts[me].size(); ++i) {
      const Whole& whole = wholes[find(m_offset[me] + i)];
      if (whole.members < 2) continue;
      result.push_back({m_parts[me][i].label, static_cast<int>(whole.owner), whole.first->label,
                        whole.first->y, whole.extents});
    }
    return result;
  }

 private:
  struct Seam {
    std::size_t above, below;  ///< ranks
  };

  [[nodiscard]] static bool is_before(const BorderPart<T>& a, const BorderPart<T>& b) {
    return a.y != b.y ? a.y < b.y : a.x < b.x;
  }
  [[nodiscard]] std::size_t find(std::size_t i) {
    while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
    return i;
  }
  [[nodiscard]] std::size_t part_of(std::size_t rank, const BorderRun& run) const {
    const auto& parts = m_parts[rank];
    const auto place =
        std::lower_bound(parts.begin(), parts.end(), run.label,
                         [](const auto& part, std::uint32_t label) { return part.label < label; });
    return m_offset[rank] + static_cast<std::size_t>(place - parts.begin());
  }
  void unite(const Seam& seam, std::int32_t reach) {
    const auto& above = m_last[seam.above];
    const auto& below = m_first[seam.below];
    for (auto a = above.begin(), b = below.begin(); a != above.end() && b != below.end();) {
      if (a->begin < b->end + reach && b->begin < a->end + reach)
        m_parent[find(part_of(seam.above, *a))] = find(part_of(seam.below, *b));
      if (a->end < b->end) {
        ++a;
      } else {
        ++b;
      }
    }
  }

  Communicator& m_ranks;
  std::vector<std::vector<BorderRun>> m_first, m_last;
  std::vector<std::vector<BorderPart<T>>> m_parts;
  std::vector<std::size_t> m_offset;  ///< of each rank's first part among all
  std::vector<std::size_t> m_parent;
  std::vector<Seam> m_seams;
};

/// Sums of a part that belongs to a component of another rank.
struct PartSums {
  int owner;
  std::uint32_t of;
  SourceSums sums;
};

}  // namespace kastor::detail

#endif
