// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_LABEL_RUNS_HPP
#define KASTOR_LABEL_LABEL_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/bits.hpp"
#include "core/keyed_sums.hpp"
#include "core/launch.hpp"
#include "label/run_table.hpp"

/// Turns sets of runs into labels.
namespace kastor::detail {

/// Decides which sets become components.
struct SetFilter {
  /// Pixel count of each root, with the marks below; null if all sets are kept.
  std::uint64_t* pixels_of_set;
  const std::uint64_t* seeds;  ///< words of a mask; null if sets need no seed
  std::uint64_t min_pixels;
  bool drop_at_edge;

  static constexpr std::uint64_t has_seed = std::uint64_t{1} << 63;
  static constexpr std::uint64_t at_edge = std::uint64_t{1} << 62;

  [[nodiscard]] KOKKOS_FUNCTION bool keeps(std::int64_t root) const {
    if (pixels_of_set == nullptr) return true;
    const std::uint64_t pixels = pixels_of_set[root];
    if (seeds != nullptr && (pixels & has_seed) == 0) return false;
    if (drop_at_edge && (pixels & at_edge) != 0) return false;
    return (pixels & ~(has_seed | at_edge)) >= min_pixels;
  }
  /// The marks that a run contributes to its set.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t marks_of(std::int64_t run,
                                                       const RunTable& table) const {
    const std::int64_t y = table.row[run], begin = table.begin[run], end = table.end[run];
    std::uint64_t marks = 0;
    if (seeds != nullptr && core::any_between(seeds + y * table.words.per_row, begin, end))
      marks |= has_seed;
    if (drop_at_edge && (y == 0 || y == table.ny - 1 || begin == 0 || end == table.nx))
      marks |= at_edge;
    return marks;
  }
};

/// Adds up the pixels and the marks of every set.
template <class Exec>
struct CountPixels {
  struct Part {
    std::uint64_t pixels = 0;
    std::uint64_t marks = 0;
    KOKKOS_FUNCTION Part& operator+=(const Part& other) {
      pixels += other.pixels;
      marks |= other.marks;
      return *this;
    }
  };
  struct Add {
    std::uint64_t* pixels_of_set;
    KOKKOS_FUNCTION void operator()(std::uint32_t root, const Part& part) const {
      core::atomic_add(pixels_of_set + root, part.pixels);
      if (part.marks != 0) core::atomic_set_bits(pixels_of_set + root, part.marks);
    }
  };
  RunTable table;
  SetFilter filter;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{filter.pixels_of_set};
    core::KeyedSums<Part, Add> sums(add);
    const core::Share<Exec> share(worker, workers, 0, table.runs());
    for (std::int64_t run = share.first; run < share.past; run += share.step) {
      const auto pixels = static_cast<std::uint64_t>(table.end[run] - table.begin[run]);
      sums.take(table.forest().find(static_cast<std::uint32_t>(run)),
                {pixels, filter.marks_of(run, table)});
    }
    sums.flush();
  }
};

/// A scan over blocks of runs: the roots of sets that are kept get their labels, other roots 0. The
/// last block stores the counts.
struct LabelRoots {
  /// Runs of a block, among which there is often no root.
  static constexpr std::int64_t runs_at_once = 16;
  struct SetCounts {
    std::uint32_t kept = 0;
    std::uint32_t dropped = 0;
    KOKKOS_FUNCTION SetCounts& operator+=(const SetCounts& other) {
      kept += other.kept;
      dropped += other.dropped;
      return *this;
    }
  };
  using value_type = SetCounts;
  RunTable table;
  SetFilter filter;
  LabelCounts* counts_on_host;  ///< in memory that the host reads

  [[nodiscard]] std::int64_t blocks() const { return (table.capacity - 1) / runs_at_once + 1; }

  KOKKOS_FUNCTION void operator()(std::int64_t block, value_type& before, bool is_final) const {
    const std::int64_t end = (block + 1) * runs_at_once;
    const std::int64_t runs = table.runs();
    const std::int64_t past = end < runs ? end : runs;
    value_type found = before;
    for (std::int64_t run = block * runs_at_once; run < past; ++run) {
      if (table.parent[run] != static_cast<std::uint32_t>(run)) continue;
      const bool is_kept = filter.keeps(run);
      if (is_final) {
        table.label[run] = is_kept ? found.kept + 1 : 0;
        if (is_kept) table.first_run[found.kept] = static_cast<std::uint32_t>(run);
      }
      found += is_kept ? value_type{1, 0} : value_type{0, 1};
    }
    before = found;
    if (is_final && end >= table.capacity) {
      table.counts->components = before.kept;
      table.counts->dropped = before.dropped;
      *counts_on_host = *table.counts;
    }
  }
};

/// Gives the other runs the label of their root.
template <class Exec>
struct LabelRuns {
  RunTable table;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const core::Share<Exec> share(worker, workers, 0, table.runs());
    for (std::int64_t run = share.first; run < share.past; run += share.step) {
      const std::uint32_t root = table.forest().find(static_cast<std::uint32_t>(run));
      if (root != run) table.label[run] = table.label[root];
    }
  }
};

}  // namespace kastor::detail

#endif
