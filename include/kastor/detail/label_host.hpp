// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_LABEL_HOST_HPP
#define KASTOR_DETAIL_LABEL_HOST_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/connect_host.hpp>
#include <kastor/detail/run_table.hpp>
#include <numeric>

/// The steps of labelling where a worker goes through a stretch of its own, a part, in order.
namespace kastor::detail {

/// Each part has about as many rows; where there are fewer rows than parts, some have none.
struct PartsOfRows {
  RunTable table;
  std::int64_t parts;
  std::int64_t ny;
  std::int32_t reach;  ///< 0: edges only, 1: corners too

  [[nodiscard]] std::int64_t first_row(std::int64_t part) const { return part * ny / parts; }
  [[nodiscard]] RunLists lists() const {
    return {
        table.words.data, table.words.per_row, table.first_in_word, table.begin, table.end,
        table.row,        table.parent,        table.pixels_of_set, reach,       table.words.lines};
  }
};

struct CountRunsInParts {
  PartsOfRows work;

  void operator()(std::int64_t part) const {
    work.table.totals.runs[part] = count_runs_on_host(
        best_host_level(), work.lists(), work.first_row(part), work.first_row(part + 1));
  }
};

/// Unites runs within the part. A single part needs no count before.
struct ConnectRowsInParts {
  PartsOfRows work;

  void operator()(std::int64_t part) const {
    const RunTable& table = work.table;
    std::uint64_t before = 0;
    for (std::int64_t p = 0; p < part; ++p) before += table.totals.runs[p];
    auto limit = static_cast<std::uint64_t>(table.capacity);
    if (work.parts > 1) limit = std::min(limit, before + table.totals.runs[part]);
    const RunCounts counts =
        connect_rows_on_host(best_host_level(), work.lists(), work.first_row(part),
                             work.first_row(part + 1), before, limit);
    table.totals.pixels[part] = counts.pixels;
    if (part == work.parts - 1) {
      table.first_in_word[table.words.count] = static_cast<std::uint32_t>(counts.runs);
      table.counts->runs = counts.runs;
    }
  }
};

/// The first row of a part with the last one of the part before.
struct UniteSeams {
  PartsOfRows work;

  void operator()(std::int64_t part) const {
    const std::int64_t y = work.first_row(part);
    if (y == 0 || y == work.first_row(part + 1) || work.table.runs() == 0) return;
    const std::int64_t per_row = work.table.words.per_row;
    const std::uint64_t* row = work.table.words.data + y * per_row;
    const std::uint32_t* first = work.table.first_in_word + y * per_row;
    const UnionFind forest = work.table.forest();
    for (std::int64_t w = 0; w < per_row; ++w) {
      for_each_touching(WordInRow::of(row - per_row, w), first[w - per_row], WordInRow::of(row, w),
                        first[w], work.reach, [&forest](std::uint32_t above, std::uint32_t below) {
                          forest.unite(below, above);
                        });
    }
  }
};

template <class Exec>
struct RankRootsInParts {
  RunTable table;
  std::int64_t workers;

  void operator()(std::int64_t worker) const {
    const RunLoop<Exec> loop(worker, workers, 0, table.runs());
    std::uint32_t roots = 0;
    std::uint32_t dropped = 0;
    for (std::int64_t first = loop.first; first < loop.past; first += block) {
      const std::int64_t past = std::min(first + block, loop.past);
      if (past == first + block && !any_root(first)) continue;
      for (std::int64_t run = first; run < past; ++run) {
        if (table.pixels_of_set == nullptr) {  // all are kept; what is no root's rank nobody reads
          table.rank[run] = roots;
          roots += is_root(run);
        } else if (is_root(run) != 0) {
          const bool kept = table.is_kept_root(run);
          table.rank[run] = kept ? roots++ : RunTable::dropped;
          if (!kept) ++dropped;
        }
      }
    }
    table.totals.roots[worker] = roots;
    table.totals.dropped[worker] = dropped;
  }

 private:
  static constexpr std::int64_t block = 16;  ///< runs, among which there is often no root

  [[nodiscard]] std::uint32_t is_root(std::int64_t run) const {
    return table.parent[run] == static_cast<std::uint32_t>(run) ? 1 : 0;
  }
  [[nodiscard]] bool any_root(std::int64_t first) const {
    std::uint32_t roots = 0;
    for (std::int64_t run = first; run < first + block; ++run) roots |= is_root(run);
    return roots != 0;
  }
};

/// How many roots lie in the parts before one, for parts that come mostly in order.
class RootsBefore {
 public:
  explicit RootsBefore(const PartTotals& totals) : m_totals(totals) {}

  [[nodiscard]] std::uint32_t operator()(std::int64_t part) {
    if (part < m_part) m_part = m_roots = 0;
    for (; m_part < part; ++m_part) m_roots += m_totals.roots[m_part];
    return m_roots;
  }

 private:
  const PartTotals& m_totals;
  std::int64_t m_part = 0;
  std::uint32_t m_roots = 0;
};

/// In order, so that the run that a run points to has its label, unless it is of another share. The
/// last worker says the counts.
template <class Exec>
struct LabelRunsInParts {
  RunTable table;
  std::int64_t workers;  ///< as many as parts of the mask

  void operator()(std::int64_t worker) const {
    if (worker == workers - 1) publish();
    const std::uint32_t before_mine = RootsBefore(table.totals)(worker);
    RootsBefore before_others(table.totals);
    const RunLoop<Exec> loop(worker, workers, 0, table.runs());
    if (loop.first >= loop.past) return;
    const auto first = static_cast<std::uint32_t>(loop.first);
    const auto share = static_cast<std::uint32_t>((table.runs() + workers - 1) / workers);
    for (auto run = first; run < loop.past; ++run) {
      const std::uint32_t up = table.forest().parents.load(run);
      if (up != run && up >= first) {
        table.label[run] = table.label[up];
      } else {
        const std::uint32_t root = up == run ? run : table.forest().find(up);
        table.label_run(run, root, root >= first ? before_mine : before_others(root / share));
      }
    }
  }

 private:
  void publish() const {
    const PartTotals& totals = table.totals;
    table.publish(std::accumulate(totals.pixels, totals.pixels + workers, std::uint64_t{0}),
                  RootsBefore(totals)(workers),
                  std::accumulate(totals.dropped, totals.dropped + workers, std::uint32_t{0}));
  }
};

}  // namespace kastor::detail

#endif
