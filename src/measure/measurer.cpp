// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/measure.hpp>
#include <string>

#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "measure/make_source_rows.hpp"
#include "measure/sum_sources.hpp"

namespace kastor {

template <class Exec, Real T>
struct Measurer<Exec, T>::Plan {
  using Rows = Kokkos::View<Source*, typename Exec::memory_space>;

  explicit Plan(const Exec& s) : space(s) {}

  void check(Bands<T, Exec> bands, const RunLabels<Exec>& labels) const {
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::measure", bands);
    KASTOR_EXPECTS("kastor::measure", shape.ny == labels.ny && shape.nx == labels.nx,
                   "the image is " + std::to_string(shape.ny) + " x " + std::to_string(shape.nx) +
                       " pixels; expected " + std::to_string(labels.ny) + " x " +
                       std::to_string(labels.nx) + ", as the labels");
  }

  void enqueue_kernels(Bands<T, Exec> bands, const detail::SourceRuns& runs, Source* into) {
    auto* const totals = sums.begin_call(space, "kastor::measure::totals", runs.components);
    const std::int64_t workers = core::workers_of(space, runs.run_capacity);
    detail::for_some_bands<T, Exec>(bands, [&](const detail::SomeBands<T>& some) {
      core::for_each("kastor::measure::find_extents", space, workers,
                     detail::FindSourceExtents<Exec, T>{{runs, totals, workers, some}});
    });
    detail::for_some_bands<T, Exec>(bands, [&](const detail::SomeBands<T>& some) {
      core::for_each("kastor::measure::sum_runs", space, workers,
                     detail::SumSources<Exec, T>{{runs, totals, workers, some}});
    });
    using Make = detail::MakeSourceRows<Exec, T>;
    const Make make{runs, totals, into};
    core::for_each_group<Make::threads>("kastor::measure::make_rows", space,
                                        {make.groups(space), Make::scratch_bytes}, make);
    sums.end_call();
  }

  [[nodiscard]] Kokkos::View<const Source*, typename Exec::memory_space> run(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    const std::int64_t n = labels.components;
    if (n > 0) {
      core::grow(rows, space, "kastor::measure::rows", n);
      enqueue_kernels(bands, {labels, nullptr, n}, rows.data());
    }
    return Kokkos::subview(rows, Kokkos::make_pair(std::int64_t{0}, n));
  }

  void enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts) {
    const Kokkos::Profiling::ScopedRegion region("kastor::measure");
    check(bands, labels);
    most_rows = std::max({most_rows, std::int64_t{4096}, labels.ny * labels.nx / 8192});
    core::grow(rows_on_host, space, "kastor::measure::rows", most_rows);
    enqueue_kernels(bands, {labels, counts, most_rows}, rows_on_host.data());
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
  core::InitialValues<detail::SourceTotals<T>, Exec> sums;
  Rows rows;
  Kokkos::View<Source*, core::HostReadableSpace<Exec>> rows_on_host;
  std::int64_t most_rows = 0;  ///< number of rows that fit into rows_on_host
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
  m_plan->enqueue(bands, labels, counts);
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

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::Measurer<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

#define KASTOR_INSTANTIATE(EXEC)                    \
  template kastor::Catalogue kastor::to_host<EXEC>( \
      const EXEC&, const Kokkos::View<const kastor::Source*, EXEC::memory_space>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
