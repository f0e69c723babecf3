// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_LABEL_LISTED_HPP
#define KASTOR_LABEL_LABEL_LISTED_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/error.hpp>
#include <limits>

#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "label/label_runs.hpp"
#include "label/run_lists.hpp"

/// Labels runs that are listed row after row, without the mask that they come from.
namespace kastor::detail {

/// Finds where the runs of each row begin, and makes each run a set of its own.
struct IndexRows {
  const std::int32_t* row;
  std::int64_t runs;
  std::int64_t first_row, past_row;
  std::uint32_t* first_of_row;  ///< (rows + 1)
  std::uint32_t* parent;

  /// For run i, and once more for i = runs.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t from = i > 0 ? std::int64_t{row[i - 1]} + 1 : first_row;
    const std::int64_t to = i < runs ? row[i] : past_row;
    for (std::int64_t y = from; y <= to; ++y)
      first_of_row[y - first_row] = static_cast<std::uint32_t>(i);
    if (i < runs) parent[i] = static_cast<std::uint32_t>(i);
  }
};

/// Unites each run with those of the row above that it touches.
struct UniteListed {
  const std::int32_t *begin, *end, *row;
  std::int64_t first_row;
  const std::uint32_t* first_of_row;
  UnionFind forest;
  std::int32_t reach;  ///< 1 if pixels touch at corners too, else 0

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = row[i] - first_row;
    if (y == 0) return;
    std::uint32_t above = first_of_row[y - 1];
    const std::uint32_t past = first_of_row[y];
    for (std::uint32_t high = past; above < high;) {
      const std::uint32_t middle = above + (high - above) / 2;
      if (end[middle] + reach > begin[i]) {
        high = middle;
      } else {
        above = middle + 1;
      }
    }
    for (; above < past && begin[above] < end[i] + reach; ++above)
      forest.unite(static_cast<std::uint32_t>(i), above);
  }
};

/// Owns what labelling needs besides the runs.
template <class Exec>
class ListedLabeller {
 public:
  explicit ListedLabeller(const Exec& space)
      : m_space(space),
        m_counts(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::label::counts")),
        m_on_host(
            Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::label::on_host")) {}

  /// Labels the components of the runs 1..N in raster order; none is dropped. Fences. \return N
  [[nodiscard]] std::int64_t operator()(RunLists<Exec>& lists, std::int64_t first_row,
                                        std::int64_t past_row, bool at_corners) {
    KASTOR_EXPECTS("kastor::label", lists.runs < std::numeric_limits<std::uint32_t>::max() - 1,
                   "there are " + std::to_string(lists.runs) +
                       " runs of foreground; expected at most 4294967293");
    core::grow(m_first_of_row, m_space, "kastor::label::first_of_row", past_row - first_row + 1);
    core::grow(lists.label, m_space, "kastor::label::run_label", lists.runs);
    core::grow(lists.first_run, m_space, "kastor::label::run_first", lists.runs);
    core::for_each("kastor::label::index_rows", m_space, lists.runs + 1,
                   IndexRows{lists.row.data(), lists.runs, first_row, past_row,
                             m_first_of_row.data(), lists.parent.data()});
    if (lists.runs == 0) return 0;
    core::for_each(
        "kastor::label::unite_listed", m_space, lists.runs,
        UniteListed{lists.begin.data(), lists.end.data(), lists.row.data(), first_row,
                    m_first_of_row.data(), UnionFind{lists.parent.data()}, at_corners ? 1 : 0});
    const LabelCounts known{static_cast<std::uint64_t>(lists.runs), 0, 0, 0};
    Kokkos::deep_copy(m_space, m_counts, known);
    const RunTable table = table_of(lists);
    const LabelRoots roots{table, SetFilter{nullptr, nullptr, 1, false}, m_on_host.data()};
    core::scan("kastor::label::label_roots", m_space, roots.blocks(), roots);
    const std::int64_t workers = core::workers_of(m_space, lists.runs);
    core::for_each("kastor::label::label_runs", m_space, workers, LabelRuns<Exec>{table, workers});
    m_space.fence("kastor::label: listed runs");
    return m_on_host().components;
  }
  /// (rows + 1) the first run of each row, and the number of runs.
  [[nodiscard]] const Kokkos::View<std::uint32_t*, typename Exec::memory_space>& first_of_row()
      const {
    return m_first_of_row;
  }

 private:
  [[nodiscard]] RunTable table_of(const RunLists<Exec>& lists) const {
    return {{},
            0,
            0,
            lists.runs,
            nullptr,
            lists.begin.data(),
            lists.end.data(),
            lists.row.data(),
            lists.label.data(),
            lists.first_run.data(),
            lists.parent.data(),
            m_counts.data()};
  }

  Exec m_space;
  Kokkos::View<LabelCounts, typename Exec::memory_space> m_counts;
  Kokkos::View<LabelCounts, core::HostReadableSpace<Exec>> m_on_host;
  Kokkos::View<std::uint32_t*, typename Exec::memory_space> m_first_of_row;
};

}  // namespace kastor::detail

#endif
