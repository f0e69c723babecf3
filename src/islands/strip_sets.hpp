// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_STRIP_SETS_HPP
#define KASTOR_ISLANDS_STRIP_SETS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/label.hpp>

#include "core/atomics.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "islands/strip_rules.hpp"

/// Which sets of foreground a strip gives, and which it leaves open: all of them, since one without
/// a seed may have its seed in the next strip.
namespace kastor::detail {

struct ClearLastRows {
  std::int32_t* last;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { last[i] = -1; }
};

/// Finds the last row of each set. Sums the pixels that count in this strip.
template <class Exec>
struct FindLastRows {
  using value_type = std::int64_t;
  RunLabels<Exec> sets;
  StripRules rules;
  std::int32_t* last;

  KOKKOS_FUNCTION void operator()(std::int64_t run, std::int64_t& pixels) const {
    const std::int32_t row = sets.row(run);
    core::atomic_raise(last + (sets.label(run) - 1), row);
    if (rules.counts(rules.begin + row)) pixels += sets.end(run) - sets.begin(run);
  }
};

/// What the sets of a strip are.
struct StripSets {
  std::int64_t given = 0;
  /// First row of the topmost open set
  std::int64_t open_from = Kokkos::Experimental::finite_max_v<std::int64_t>;

  KOKKOS_FUNCTION StripSets& operator+=(const StripSets& other) {
    given += other.given;
    open_from = other.open_from < open_from ? other.open_from : open_from;
    return *this;
  }
};

template <class Exec>
struct JudgeSets {
  using value_type = StripSets;
  RunLabels<Exec> sets;
  StripRules rules;
  const std::int32_t* last;

  KOKKOS_FUNCTION void operator()(std::int64_t set, StripSets& found) const {
    const std::int64_t first = rules.begin + sets.row(sets.first_run(set));
    const std::int64_t last_row = rules.begin + last[set];
    if (rules.gives(first, last_row)) found += StripSets{1, found.open_from};
    if (rules.leaves_open(first, last_row)) found += StripSets{0, first};
  }
};

/// The column of the first pixel of each island.
template <class Exec>
struct FirstColumns {
  RunLabels<Exec> labels;
  std::int32_t* columns;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    columns[i] = labels.begin(labels.first_run(i));
  }
};

/// Judges the sets of one side of the background.
template <class Exec>
class StripJudge {
 public:
  StripJudge(const Exec& space, Connectivity connectivity)
      : m_space(space), m_label(space, LabelParams{connectivity, 1, false}) {}

  /// `pixels`: grows by the foreground that counts in this strip. Fences.
  [[nodiscard]] StripSets judge(const BitMask<Exec>& foreground, const StripRules& rules,
                                std::int64_t& pixels) {
    const RunLabels<Exec>& sets = m_label(foreground);
    core::grow(m_last, m_space, "kastor::islands::last_rows", sets.components);
    core::for_each("kastor::islands::clear_last_rows", m_space, sets.components,
                   ClearLastRows{m_last.data()});
    pixels += core::reduce("kastor::islands::find_last_rows", m_space, sets.runs,
                           FindLastRows<Exec>{sets, rules, m_last.data()});
    return core::reduce("kastor::islands::judge_sets", m_space, sets.components,
                        JudgeSets<Exec>{sets, rules, m_last.data()});
  }
  /// The column of the first pixel of each island, in the order of the labels. Fences.
  [[nodiscard]] const std::int32_t* first_columns(const RunLabels<Exec>& labels) {
    core::grow(m_columns, m_space, "kastor::islands::first_columns", labels.components);
    core::for_each("kastor::islands::first_columns", m_space, labels.components,
                   FirstColumns<Exec>{labels, m_columns.data()});
    m_space.fence("kastor::islands::first_columns");
    return m_columns.data();
  }

 private:
  Exec m_space;
  Labeller<Exec> m_label;
  Kokkos::View<std::int32_t*, typename Exec::memory_space> m_last;
  Kokkos::View<std::int32_t*, core::HostReadableSpace<Exec>> m_columns;
};

}  // namespace kastor::detail

#endif
