// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_SOURCE_RUNS_HPP
#define KASTOR_MEASURE_SOURCE_RUNS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/label.hpp>

#include "core/keyed_sums.hpp"
#include "core/launch.hpp"
#include "measure/source_sums.hpp"

/// The runs of labelled components, and their pixels.
namespace kastor::detail {

/// Pixels [begin, end) of a row.
struct SourceRun {
  std::int32_t begin, end, y;
  std::uint32_t label;  ///< 0: belongs to no component
};

/// The result of labelling, as kernels access it.
struct SourceRuns {
  const std::int32_t *begin, *end, *row;
  const std::uint32_t *label, *first_run, *first_in_word;
  std::int64_t words_per_row;
  std::int64_t run_capacity;
  const LabelCounts* counts;  ///< null if the host knows the number of components
  /// Number of components; if the host does not know it, how many there is room for.
  std::int64_t components;
  /// (components) row of a component's first pixel; null if it is that of its first run.
  const std::int32_t* top_row = nullptr;

  /// Runs that the host has counted, as in `RunLists`.
  SourceRuns(const std::int32_t* begins, const std::int32_t* ends, const std::int32_t* rows,
             const std::uint32_t* labels, const std::uint32_t* first_runs,
             std::int64_t number_of_components)
      : begin(begins),
        end(ends),
        row(rows),
        label(labels),
        first_run(first_runs),
        first_in_word(nullptr),
        words_per_row(0),
        run_capacity(0),
        counts(nullptr),
        components(number_of_components) {}

  template <class Exec>
  SourceRuns(const RunLabels<Exec>& labels, const LabelCounts* counts_of_labels,
             std::int64_t most_components)
      : begin(labels.begin.data()),
        end(labels.end.data()),
        row(labels.row.data()),
        label(labels.label.data()),
        first_run(labels.first_run.data()),
        first_in_word(labels.first_in_word.data()),
        words_per_row(labels.mask.words_per_row()),
        run_capacity(counts_of_labels == nullptr
                         ? labels.runs
                         : static_cast<std::int64_t>(labels.begin.extent(0))),
        counts(counts_of_labels),
        components(most_components) {}

  /// The number of components; 0 if the runs were not labelled or a list is too short, since the
  /// caller then measures again.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const {
    if (counts == nullptr) return components;
    const std::int64_t found = counts->components;
    const bool has_room =
        counts->runs <= static_cast<std::uint64_t>(run_capacity) && found <= components;
    return has_room ? found : 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION SourceRun run(std::int64_t i) const {
    return {begin[i], end[i], row[i], label[i]};
  }
  /// Row of a component's first pixel.
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t y_min(std::int64_t component) const {
    return top_row != nullptr ? top_row[component] : row[first_run[component]];
  }
};

/// Consecutive bands, as many as fit into the arguments of a kernel.
template <class T>
struct SomeBands {
  static constexpr int most = 32;
  struct Band {
    const T* data;
    std::int64_t pitch;
    std::int64_t first_row;
  };
  int count = 0;
  std::int64_t first_row = 0;
  std::int64_t past_row = 0;
  Band band[most] = {};

  /// The pixels of the row of a run.
  [[nodiscard]] KOKKOS_FUNCTION const T* row(std::int64_t /*run*/, std::int32_t y,
                                             std::int32_t /*begin*/) const {
    int b = 0;
    while (b + 1 < count && y >= band[b + 1].first_row) ++b;
    return band[b].data + (y - band[b].first_row) * band[b].pitch;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first_run(const SourceRuns& runs) const {
    return runs.first_in_word[first_row * runs.words_per_row];
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past_run(const SourceRuns& runs) const {
    return runs.first_in_word[past_row * runs.words_per_row];
  }
};

/// The pixels of listed runs: rows of one band, or values that were kept when it was read.
template <class T>
struct ListedPixels {
  std::int64_t first, past;  ///< the runs
  const T* data;             ///< the band, or all values
  std::int64_t pitch, first_row;
  const std::int64_t* value_at;  ///< of each run, where its values begin; null for a band

  [[nodiscard]] KOKKOS_FUNCTION const T* row(std::int64_t run, std::int32_t y,
                                             std::int32_t begin) const {
    return value_at != nullptr ? data + value_at[run] - begin : data + (y - first_row) * pitch;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t first_run(const SourceRuns& /*runs*/) const {
    return first;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t past_run(const SourceRuns& /*runs*/) const {
    return past;
  }
};

/// `visit(some)` for all bands, some at a time.
template <class T, class Exec, class Visit>
void for_some_bands(Bands<T, Exec> bands, const Visit& visit) {
  SomeBands<T> some;
  for (const auto& image : bands) {
    const Rows<T> rows = rows_of<T, Exec>(image);
    if (rows.ny == 0) continue;
    if (some.count == some.most) {
      visit(some);
      some.count = 0;
      some.first_row = some.past_row;
    }
    some.band[some.count++] = {rows.data, rows.pitch, some.past_row};
    some.past_row += rows.ny;
  }
  if (some.count > 0) visit(some);
}

/// A sweep over runs by several workers. `Pixels` says which runs, and where their pixels are.
template <class Exec, class T, class Pixels = SomeBands<T>>
struct SourceSweep {
  SourceRuns runs;
  SourceTotals<T>* totals;
  std::int64_t workers;
  Pixels pixels;

  /// Adds `part_of(run, pixels of its row)` to the component of each run of a worker's share.
  template <class Part, class Add, class PartOf>
  KOKKOS_FUNCTION void add_parts(std::int64_t worker, const Add& add, const PartOf& part_of) const {
    if (runs.count() == 0) return;
    core::KeyedSums<Part, Add> sums(add);
    const core::Share<Exec> share(worker, workers, pixels.first_run(runs), pixels.past_run(runs));
    for (std::int64_t i = share.first; i < share.past; i += share.step) {
      const SourceRun run = runs.run(i);
      if (run.label != 0) sums.take(run.label, part_of(run, pixels.row(i, run.y, run.begin)));
    }
    sums.flush();
  }
};

}  // namespace kastor::detail

#endif
