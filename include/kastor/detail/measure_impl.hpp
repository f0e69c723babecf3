// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MEASURE_IMPL_HPP
#define KASTOR_DETAIL_MEASURE_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/make_rows.hpp>
#include <kastor/detail/measure_host.hpp>
#include <kastor/detail/measure_sources.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/plan_memory.hpp>
#include <kastor/detail/sum_and_make_rows.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/measure.hpp>
#include <span>
#include <string>

namespace kastor {

template <class Exec, Real T>
struct Measurer<Exec, T>::Plan {
  using Policy = detail::IndexRange<Exec>;
  template <class MemorySpace>
  using Rows = Kokkos::View<Source*, MemorySpace>;

  explicit Plan(const Exec& s) : space(s) {}

  template <class MemorySpace>
  void reserve_rows(Rows<MemorySpace>& list, std::int64_t wanted) {
    if (static_cast<std::int64_t>(list.extent(0)) >= wanted) return;
    list = {};
    list = Rows<MemorySpace>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::rows"),
        static_cast<std::size_t>(wanted));
  }
  void reserve_components(std::int64_t wanted) {
    if (static_cast<std::int64_t>(components.extent(0)) >= wanted) return;
    components = {};
    components = decltype(components)(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::measure::components"),
        static_cast<std::size_t>(wanted));
    Kokkos::parallel_for("kastor::measure::clear", Policy(space, 0, wanted),
                         detail::ClearComponents<T, Exec>{components.data()});
  }

  /// `launch(BandRuns)` for as many bands at once as fit.
  template <class Launch>
  void sweep(Bands<T, Exec> bands, const detail::MeasuredRuns& runs, const BitMask<Exec>& mask,
             const Launch& launch) {
    const std::int64_t workers = detail::measuring_workers(space, runs.run_capacity);
    detail::LeftForSums<T, is_host_space_v<Exec>> left{};
    if constexpr (is_host_space_v<Exec>) {
      left = {highest.data(),
              {mask_is_kept ? mask.words.data() : nullptr, mask.words_per_row(), stretches.data()},
              runs_are_long ? sums.data() : nullptr};
    }
    detail::for_each_group_of_bands<T, Exec>(
        bands, runs, mask.words_per_row(), workers, [&](const detail::RunsOfBands<T, Exec>& some) {
          launch(detail::BandRuns<T, Exec>{some, components.data(), left});
          if constexpr (is_host_space_v<Exec>) left.stretches.list += workers;
        });
  }

  void run(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts,
           std::int64_t most_components, Source* into, const detail::FewRuns& few,
           bool keeps_mask) {
    mask_is_kept = keeps_mask;
    using Some = detail::BandRuns<T, Exec>;
    detail::MeasuredRuns runs = detail::runs_of(labels, counts, most_components);
    // One kernel must have all pixels of a component.
    if (bands.size() <= Some::most_bands) runs.few = few;
    if constexpr (is_host_space_v<Exec>) {
      detail::grow(highest, space, "kastor::measure::highest", runs.run_capacity);
      const auto groups = static_cast<std::int64_t>(bands.size()) / Some::most_bands + 1;
      const std::int64_t workers = detail::measuring_workers(space, runs.run_capacity);
      detail::grow(stretches, space, "kastor::measure::stretches",
                   detail::FoundStretches<T>::most(runs.run_capacity, groups * workers));
      runs_are_long = counts != nullptr ? detail::FoundSums<T>::pay(counts->runs, counts->pixels)
                                        : detail::FoundSums<T>::pay(
                                              static_cast<std::uint64_t>(labels.runs),
                                              static_cast<std::uint64_t>(labels.foreground_pixels));
      // Whether it is used depends on the image, and calls must not allocate that did not before.
      if (detail::FoundSums<T>::are_of_use)
        detail::grow(sums, space, "kastor::measure::sums", runs.run_capacity);
    }
    sweep(bands, runs, labels.mask, [&](const Some& some) {
      detail::enqueue_range<Policy>(space, "kastor::measure::find_extents", some.workers,
                                    detail::FindExtents<T, Exec>{some});
    });
    const detail::MakeRows<T> make{runs, components.data(), into};
    if constexpr (is_host_space_v<Exec>) {
      sweep(bands, runs, labels.mask, [&](const Some& some) {
        detail::enqueue_range<Policy>(space, "kastor::measure::sum_runs", some.workers,
                                      detail::SumRuns<T, Exec>{some});
      });
      detail::enqueue_rows(space, "kastor::measure::make_rows", most_components, make);
    } else {
      using SumLines = detail::SumRunsAndMakeRows<T, Exec, true>;
      const auto sum = [&]<class Sum>() {
        sweep(bands, runs, labels.mask, [&](Some some) {
          const int teams = Sum::teams(space, some.workers);
          some.workers = std::int64_t{teams} * Sum::threads;
          detail::TeamLauncher<Exec>{space}("kastor::measure::sum_runs_and_make_rows", teams,
                                            Sum{{some}, make});
        });
      };
      if (detail::has_room_for_lines(space, SumLines::teams_at_once, SumLines::scratch_bytes)) {
        sum.template operator()<SumLines>();
      } else {
        sum.template operator()<detail::SumRunsAndMakeRows<T, Exec, false>>();
      }
    }
  }

  void check(Bands<T, Exec> bands, const RunLabels<Exec>& labels) const {
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::measure", bands);
    KASTOR_EXPECTS("kastor::measure", shape.ny == labels.ny && shape.nx == labels.nx,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       " pixels; expected " + std::to_string(labels.ny) + " x " +
                       std::to_string(labels.nx) + " as the labels");
  }

  [[nodiscard]] Kokkos::View<const Source*, typename Exec::memory_space> run(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    const std::int64_t n = labels.components;
    if (n > 0) {
      reserve_components(n);
      reserve_rows(rows, n);
      run(bands, labels, nullptr, n, rows.data(), {}, false);
    }
    return Kokkos::subview(rows, Kokkos::make_pair(std::int64_t{0}, n));
  }

  void enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts,
               const detail::FewRuns& few, bool keeps_mask) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    most_rows = std::max({most_rows, std::int64_t{4096}, labels.ny * labels.nx / 8192});
    reserve_components(most_rows);
    reserve_rows(rows_on_host, most_rows);
    run(bands, labels, counts, most_rows, rows_on_host.data(), few, keeps_mask);
  }

  [[nodiscard]] bool finish(std::int64_t n) {
    if (n > most_rows) {
      most_rows = n + n / 8;
      return false;
    }
    found = std::span<const Source>(rows_on_host.data(), static_cast<std::size_t>(n));
    return true;
  }

  Exec space;
  Kokkos::View<detail::Component<T>*, typename Exec::memory_space> components;
  Kokkos::View<T*, typename Exec::memory_space> highest;  ///< see BandRuns
  Kokkos::View<detail::FoundStretch<T>*, typename Exec::memory_space> stretches;
  Kokkos::View<detail::FoundSums<T>*, typename Exec::memory_space> sums;
  Rows<typename Exec::memory_space> rows;
  Rows<detail::HostReadable<Exec>> rows_on_host;
  std::int64_t most_rows = 0;  ///< that there is room for on the host
  bool mask_is_kept = false;   ///< of the call: the mask is still that of the labels
  bool runs_are_long = false;  ///< hosts: of the call, see FoundSums
  std::span<const Source> found;
};

template <class Exec, Real T>
Measurer<Exec, T>::Measurer(const Exec& space) : m_plan(std::make_unique<Plan>(space)) {}
template <class Exec, Real T>
Measurer<Exec, T>::~Measurer() = default;
template <class Exec, Real T>
Measurer<Exec, T>::Measurer(Measurer&&) noexcept = default;
template <class Exec, Real T>
Measurer<Exec, T>& Measurer<Exec, T>::operator=(Measurer&&) noexcept = default;

template <class Exec, Real T>
Kokkos::View<const Source*, typename Exec::memory_space> Measurer<Exec, T>::operator()(
    const ConstImage<T, Exec>& image, const RunLabels<Exec>& labels) {
  return m_plan->run(Bands<T, Exec>(&image, 1), labels);
}
template <class Exec, Real T>
Kokkos::View<const Source*, typename Exec::memory_space> Measurer<Exec, T>::operator()(
    Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
  return m_plan->run(bands, labels);
}
template <class Exec, Real T>
void Measurer<Exec, T>::enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels,
                                const LabelCounts* counts) {
  m_plan->enqueue(bands, labels, counts, {}, false);
}
template <class Exec, Real T>
void Measurer<Exec, T>::enqueue(Bands<T, Exec> bands, const Labeller<Exec>& labeller) {
  m_plan->enqueue(bands, labeller.labels(), labeller.counts(), labeller.few_runs(), true);
}
template <class Exec, Real T>
bool Measurer<Exec, T>::finish(std::int64_t components) {
  return m_plan->finish(components);
}
template <class Exec, Real T>
std::span<const Source> Measurer<Exec, T>::rows() const {
  return m_plan->found;
}

template <class Exec>
Catalogue to_host(const Exec& space,
                  const Kokkos::View<const Source*, typename Exec::memory_space>& rows) {
  Catalogue catalogue(rows.extent(0));
  const Kokkos::View<Source*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      catalogue.data(), catalogue.size());
  Kokkos::deep_copy(space, host, rows);
  space.fence("kastor::measure::to_host");
  return catalogue;
}

}  // namespace kastor

#endif
