// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RUN_TABLE_HPP
#define KASTOR_DETAIL_RUN_TABLE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/adder.hpp>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/few_runs.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/mask_lines.hpp>
#include <kastor/detail/union_find.hpp>
#include <kastor/label.hpp>

/// What all labelling kernels share. None of them is told by the host how many runs there are: the
/// host has enqueued them all before the first one counts.
namespace kastor::detail {

/// The words of a mask, row after row.
struct MaskWords {
  const std::uint64_t* data;
  std::int64_t count;
  std::int64_t per_row;
  MaskLines lines = {};

  /// Bits of word `i`, the `w`-th of its row, whose left neighbour is background.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t starts(std::int64_t i, std::int64_t w,
                                                     std::uint64_t word) const {
    const std::uint64_t carry = w > 0 ? data[i - 1] >> 63 : 0;
    return word & ~(word << 1 | carry);
  }
  /// The same where the row is not known: the division comes last, few words need it.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t starts(std::int64_t i, std::uint64_t word) const {
    std::uint64_t bits = word & ~(word << 1);
    if ((bits & 1) != 0 && i > 0 && data[i - 1] >> 63 != 0 && i % per_row != 0) --bits;
    return bits;
  }
  /// Bits whose right neighbour is background.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t ends(std::int64_t i, std::int64_t w,
                                                   std::uint64_t word) const {
    const std::uint64_t next = w + 1 < per_row ? data[i + 1] << 63 : 0;
    return word & ~(word >> 1 | next);
  }
};

/// Parts of the work, each with totals of its own, which the next kernel adds up.
struct PartTotals {
  std::uint64_t* runs;     ///< per part of the mask
  std::uint64_t* pixels;   ///< per part of the mask
  std::uint32_t* roots;    ///< per part of the runs
  std::uint32_t* dropped;  ///< per part of the runs; meaningless if all components are kept
};

/// Plain pointers, for the sake of the size of the kernels' arguments.
struct RunTable {
  MaskWords words;
  std::uint32_t* first_in_word;
  std::int32_t* begin;
  std::int32_t* end;
  std::int32_t* row;
  std::uint32_t* label;
  std::uint32_t* first_run;
  std::uint32_t* parent;
  std::uint32_t* rank;           ///< of a root among those of its part
  std::uint64_t* pixels_of_set;  ///< per root, with the marks below; null if all sets are kept
  std::uint64_t min_pixels;
  const std::uint64_t* seeds;  ///< words of a mask; null if sets need no seed
  bool drop_at_edge;
  LabelCounts* counts;
  LabelCounts* counts_on_host;  ///< in memory that the host reads
  PartTotals totals;
  std::int64_t capacity;              ///< of the lists of runs
  std::uint32_t* labelled = nullptr;  ///< runs that have a label, in any order; null: not listed
  FewRuns few = {};                   ///< devices; no room: not listed

  static constexpr std::uint32_t dropped = ~std::uint32_t{0};
  static constexpr std::uint64_t has_seed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t at_edge = std::uint64_t{1} << 62;

  /// None if the lists are too short: the caller will label again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t runs() const {
    const std::uint64_t n = counts->runs;
    return n <= static_cast<std::uint64_t>(capacity) ? static_cast<std::int64_t>(n) : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION UnionFind forest() const { return {{parent}}; }

  [[nodiscard]] KOKKOS_FUNCTION bool is_kept_root(std::int64_t run) const {
    const auto r = static_cast<std::uint32_t>(run);
    return forest().is_root(r) && (pixels_of_set == nullptr || is_kept_set(pixels_of_set[r]));
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_kept_set(std::uint64_t pixels) const {
    if (seeds != nullptr && (pixels & has_seed) == 0) return false;
    if (drop_at_edge && (pixels & at_edge) != 0) return false;
    return (pixels & ~(has_seed | at_edge)) >= min_pixels;
  }
  /// What a run says about its set.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t marks_of(std::int64_t run, std::int64_t ny,
                                                       std::int64_t nx) const {
    const std::int64_t y = row[run];
    std::uint64_t marks = 0;
    if (seeds != nullptr && any_one_between(seeds + y * words.per_row, begin[run], end[run]))
      marks |= has_seed;
    if (drop_at_edge && (y == 0 || y == ny - 1 || begin[run] == 0 || end[run] == nx))
      marks |= at_edge;
    return marks;
  }

  KOKKOS_FUNCTION void begin_run(std::uint32_t run, std::int32_t x, std::int32_t y) const {
    begin[run] = x;
    row[run] = y;
    parent[run] = run;
    if (pixels_of_set != nullptr) pixels_of_set[run] = 0;
  }
  /// The runs that begin or end in a word that is not 0, the `w`-th of row `y`; `before` begin
  /// before it.
  KOKKOS_FUNCTION void fill_word(std::int64_t y, std::int64_t w, std::uint64_t word,
                                 std::uint64_t starts, std::uint64_t before) const {
    if (before + ones_in(starts) > static_cast<std::uint64_t>(capacity)) return;
    const auto x = static_cast<std::int32_t>(64 * w);
    auto run = static_cast<std::uint32_t>(before);
    // The run that comes in from the word before, if any, is the first to end.
    std::uint32_t ending = run - static_cast<std::uint32_t>(word & ~starts & 1);
    for (std::uint64_t rest = starts; rest != 0; rest &= rest - 1, ++run) {
      begin_run(run, x + Kokkos::Experimental::countr_zero_builtin(rest),
                static_cast<std::int32_t>(y));
    }
    for (std::uint64_t rest = words.ends(y * words.per_row + w, w, word); rest != 0;
         rest &= rest - 1, ++ending) {
      end[ending] = x + Kokkos::Experimental::countr_zero_builtin(rest) + 1;
    }
  }

  /// The label of a run from the rank of its root; `before` roots lie in the parts before.
  KOKKOS_FUNCTION std::uint32_t label_run(std::int64_t i, std::uint32_t root,
                                          std::uint32_t before) const {
    const auto run = static_cast<std::uint32_t>(i);
    const std::uint32_t place = rank[root];
    const std::uint32_t found = place == dropped ? 0 : before + place + 1;
    label[run] = found;
    if (found != 0 && root == run) first_run[found - 1] = run;
    return found;
  }

  /// Says the counts, which but for the runs have only now become known.
  KOKKOS_FUNCTION void publish(std::uint64_t pixels, std::uint32_t components,
                               std::uint32_t dropped_sets) const {
    counts->pixels = pixels;
    counts->components = components;
    counts->dropped = dropped_sets;
    *counts_on_host = *counts;
  }
};

/// Run by run in raster order; on a device thread by thread at a distance of all threads, so that
/// neighbours read neighbours.
template <class Exec>
struct RunLoop {
  std::int64_t first;
  std::int64_t past;
  std::int64_t step;

  KOKKOS_FUNCTION RunLoop(std::int64_t worker, std::int64_t workers, std::int64_t begin,
                          std::int64_t end)
      : first(begin + worker), past(end), step(workers) {
    if constexpr (is_host_space_v<Exec>) {
      const std::int64_t share = (end - begin + workers - 1) / workers;
      first = begin + worker * share;
      past = first + share < end ? first + share : end;
      step = 1;
    }
  }
};

/// Adds up what a worker has to say about sets of runs, and on CUDA what the workers of a warp
/// have, so that a set with very many runs is not the meeting point of all workers: `add(set,
/// part)` is called once for stretches of one set, and between them for others. A set that comes
/// twice in a row among the others takes the place.
template <class Part, class Add>
class SetSums {
 public:
  KOKKOS_FUNCTION explicit SetSums(const Add& add) : m_add(add) {}

  KOKKOS_FUNCTION void take(std::uint32_t set, const Part& part) {
    if (m_any && set == m_set) {
      m_part.join(part);
    } else if (!m_any || set == m_other) {
      flush_alone();
      m_any = true;
      m_set = set;
      m_part = part;
    } else {
      m_add(set, part);
      m_other = set;
    }
  }
  /// After the last one.
  KOKKOS_FUNCTION void flush() {
#ifdef __CUDA_ARCH__
    if (__activemask() == ~0U) return flush_by_warp();
#endif
    flush_alone();
  }

 private:
  KOKKOS_FUNCTION void flush_alone() {
    if (m_any) m_add(m_set, m_part);
    m_any = false;
  }
#ifdef __CUDA_ARCH__
  /// Threads that have the same set add up what they have of it, for one of them to add.
  __device__ void flush_by_warp() {
    constexpr int worth_it = 4;
    const unsigned any = __ballot_sync(~0U, m_any);
    if (any == 0) return;
    const std::uint32_t common = value_of_lane(m_set, first_lane_of(any));
    bool has = m_any && m_set == common;
    if (__popc(__ballot_sync(~0U, has)) < worth_it) return flush_alone();
    if (!has) flush_alone();
    m_any = false;
    const int lane = static_cast<int>(threadIdx.y) % lanes;
    KASTOR_KEEP_LOOP
    for (int step = lanes / 2; step > 0; step /= 2) {
      const Part above = value_from_above(m_part, step);
      const bool above_has = value_from_above(has, step) && lane + step < lanes;
      if (!above_has) continue;
      if (has) {
        m_part.join(above);
      } else {
        m_part = above;
      }
      has = true;
    }
    if (lane == 0) m_add(common, m_part);
  }
#endif

  const Add& m_add;
  Part m_part{};
  std::uint32_t m_set = 0;
  std::uint32_t m_other = ~std::uint32_t{0};
  bool m_any = false;
};

struct PixelCount {
  std::uint64_t pixels;
  std::uint64_t marks;
  KOKKOS_FUNCTION void join(const PixelCount& other) {
    pixels += other.pixels;
    marks |= other.marks;
  }
};

/// What decides whether a set is dropped: its pixels and its marks, at its root.
template <class Exec>
struct CountPixels {
  RunTable table;
  std::int64_t workers;
  std::int64_t ny;
  std::int64_t nx;

  struct Add {
    std::uint64_t* pixels;
    Adder<Exec> adder;
    KOKKOS_FUNCTION void operator()(std::uint32_t root, const PixelCount& part) const {
      adder.add(pixels + root, part.pixels);
      if (part.marks != 0) adder.mark(pixels + root, part.marks);
    }
  };
  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    count(RunLoop<Exec>(worker, workers, 0, table.runs()));
  }
  KOKKOS_FUNCTION void count(const RunLoop<Exec>& loop) const {
    const Add add{table.pixels_of_set, {workers == 1}};
    SetSums<PixelCount, Add> sums(add);
    for (std::int64_t run = loop.first; run < loop.past; run += loop.step) {
      sums.take(table.forest().find(static_cast<std::uint32_t>(run)),
                PixelCount{static_cast<std::uint64_t>(table.end[run] - table.begin[run]),
                           table.marks_of(run, ny, nx)});
    }
    sums.flush();
  }
};

}  // namespace kastor::detail

#endif
