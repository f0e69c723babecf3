// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_MEASURE_CHILDREN_HPP
#define KASTOR_DEBLEND_MEASURE_CHILDREN_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/island_finder.hpp>
#include <limits>
#include <span>

#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "deblend/child_runs.hpp"
#include "islands/mark.hpp"
#include "islands/measure_islands.hpp"

namespace kastor::detail {

/// Labels children, and measures them as islands.
template <class Exec, Real T>
class ChildMeasurer {
 public:
  explicit ChildMeasurer(const Exec& space)
      : m_space(space),
        m_above(space, Side::above),
        m_below(space, Side::below),
        m_counts(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::deblend::counts")),
        m_counts_on_host(Kokkos::view_alloc(space, Kokkos::WithoutInitializing,
                                            "kastor::deblend::counts_on_host")) {}

  /// `detection`: null if the islands were found in the image itself. Fences.
  [[nodiscard]] std::span<const Island> operator()(
      Bands<T, Exec> bands, const Background<Exec, T>& background,
      const Detection<Exec, T>* detection, const BitMask<Exec>& region, Side side,
      const RunLabels<Exec>& labels, const FlatPixels& pixels, const ChildOfPixel& child,
      std::int64_t children) {
    m_labels.ny = labels.ny;
    m_labels.nx = labels.nx;
    m_labels.mask = labels.mask;
    m_labels.dropped = labels.dropped;
    m_labels.foreground_pixels = labels.foreground_pixels;
    m_labels.components = children;
    reserve(labels, children);
    mark_blank(bands, background, detection, region.words.data());
    core::for_each("kastor::deblend::mark_starts", m_space, pixels.word_count(),
                   MarkStarts<Exec>{pixels, labels, child, m_starts.data()});
    IslandMeasurer<Exec, T>& measure = side == Side::above ? m_above : m_below;
    do {
      list_runs(pixels, child, children);
      measure.enqueue(bands, background, detection, m_blank.data(), m_labels, m_counts.data());
      m_space.fence("kastor::deblend::children");
    } while (!finish(measure, children));
    return measure.rows();
  }
  [[nodiscard]] const RunLabels<Exec>& labels() const { return m_labels; }

 private:
  void reserve(const RunLabels<Exec>& labels, std::int64_t children) {
    const std::int64_t words = labels.ny * ((labels.nx + 63) / 64);
    core::grow(m_starts, m_space, "kastor::deblend::starts", words);
    core::grow(m_blank, m_space, "kastor::deblend::blank", words);
    core::grow(m_unused, m_space, "kastor::deblend::marks", words);
    core::grow(m_labels.first_in_word, m_space, "kastor::deblend::first_in_word", words + 1);
    core::grow(m_labels.first_run, m_space, "kastor::deblend::first_run", children);
    m_labels.starts = labels.mask;
    m_labels.starts.words =
        decltype(labels.mask.words)(m_starts.data(), static_cast<std::size_t>(labels.ny),
                                    static_cast<std::size_t>((labels.nx + 63) / 64));
    reserve_runs(std::max<std::int64_t>(4096, labels.runs + labels.runs / 4));
  }
  void reserve_runs(std::int64_t runs) {
    m_room = std::max(m_room, runs);
    core::grow(m_labels.begin, m_space, "kastor::deblend::begin", m_room);
    core::grow(m_labels.end, m_space, "kastor::deblend::end", m_room);
    core::grow(m_labels.row, m_space, "kastor::deblend::row", m_room);
    core::grow(m_labels.label, m_space, "kastor::deblend::label", m_room);
  }

  /// Nothing is above infinite thresholds, so the marks are those of blank pixels.
  void mark_blank(Bands<T, Exec> bands, const Background<Exec, T>& background,
                  const Detection<Exec, T>* detection, const std::uint64_t* region) {
    const std::uint64_t* usable = region;
    if (detection != nullptr) {
      mark(detection->bands, detection->background, region);
      const std::int64_t words = m_labels.ny * ((m_labels.nx + 63) / 64);
      core::grow(m_usable, m_space, "kastor::deblend::usable", words);
      core::for_each("kastor::deblend::not_blank", m_space, words,
                     NotBlank{m_blank.data(), m_usable.data()});
      usable = m_usable.data();
    }
    mark(bands, background, usable);
  }
  void mark(Bands<T, Exec> bands, const Background<Exec, T>& background,
            const std::uint64_t* region) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Patches patches({m_labels.ny, m_labels.nx}, background);
    core::grow(m_limits, m_space, "kastor::deblend::limits", patches.count());
    mark_islands<Exec, T>(m_space, bands, patches, {background, infinity, infinity}, region,
                          m_limits.data(),
                          {m_blank.data(), m_unused.data(), m_unused.data(), nullptr, nullptr});
  }

  void list_runs(const FlatPixels& pixels, const ChildOfPixel& child, std::int64_t children) {
    core::for_each("kastor::deblend::forget_runs", m_space, children,
                   ForgetRuns{m_labels.first_run.data()});
    const ChildRuns runs{m_labels.mask.words.data(),
                         m_starts.data(),
                         m_labels.first_in_word.data(),
                         m_labels.begin.data(),
                         m_labels.end.data(),
                         m_labels.row.data(),
                         m_labels.label.data(),
                         m_labels.first_run.data(),
                         m_room,
                         m_counts.data(),
                         m_counts_on_host.data()};
    core::scan("kastor::deblend::list_runs", m_space, pixels.word_count(),
               ListRuns{pixels, child, runs, static_cast<std::uint32_t>(children)});
  }
  /// False if a list was too short; it has grown.
  [[nodiscard]] bool finish(IslandMeasurer<Exec, T>& measure, std::int64_t children) {
    m_labels.runs = static_cast<std::int64_t>(m_counts_on_host().runs);
    const bool had_room = m_labels.runs <= m_room;
    if (!had_room) reserve_runs(m_labels.runs + m_labels.runs / 8);
    return measure.finish(children, 0) && had_room;
  }

  template <class V>
  using List = Kokkos::View<V*, typename Exec::memory_space>;
  Exec m_space;
  IslandMeasurer<Exec, T> m_above, m_below;
  Kokkos::View<LabelCounts, typename Exec::memory_space> m_counts;
  Kokkos::View<LabelCounts, core::HostReadableSpace<Exec>> m_counts_on_host;
  RunLabels<Exec> m_labels;
  std::int64_t m_room = 0;  ///< of the lists of runs
  List<std::uint64_t> m_starts, m_blank, m_usable, m_unused;
  List<PatchLimits<T>> m_limits;
};

}  // namespace kastor::detail

#endif
