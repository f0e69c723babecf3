// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <kastor/detail/instantiations.hpp>
#include <kastor/label.hpp>
#include <limits>
#include <string>

#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "label/label_runs.hpp"
#include "label/number_runs.hpp"
#include "label/unite_runs.hpp"

namespace kastor {

template <class Exec>
struct Labeller<Exec>::Plan {
  template <class T>
  using List = typename RunLabels<Exec>::template List<T>;

  Plan(const Exec& s, const LabelParams& p)
      : space(s),
        params(p),
        counts(Kokkos::view_alloc(s, Kokkos::WithoutInitializing, "kastor::label::counts")),
        counts_on_host(
            Kokkos::view_alloc(s, Kokkos::WithoutInitializing, "kastor::label::counts_on_host")) {}

  [[nodiscard]] bool drops() const {
    return params.min_pixels > 1 || params.drop_at_edge || seeds.data() != nullptr;
  }

  void reserve(std::int64_t runs) {
    capacity = std::min(std::max(capacity, runs), most_runs);
    core::grow(labels.begin, space, "kastor::label::begin", capacity);
    core::grow(labels.end, space, "kastor::label::end", capacity);
    core::grow(labels.row, space, "kastor::label::row", capacity);
    core::grow(labels.label, space, "kastor::label::label", capacity);
    core::grow(labels.first_run, space, "kastor::label::first_run", capacity);
    core::grow(parent, space, "kastor::label::parent", capacity);
    if (drops()) core::grow(pixels_of_set, space, "kastor::label::pixels_of_set", capacity);
  }

  [[nodiscard]] detail::RunTable table() const {
    const BitMask<Exec>& mask = labels.mask;
    return {{mask.words.data(), mask.ny * mask.words_per_row(), mask.words_per_row()},
            mask.ny,
            mask.nx,
            capacity,
            labels.first_in_word.data(),
            labels.begin.data(),
            labels.end.data(),
            labels.row.data(),
            labels.label.data(),
            labels.first_run.data(),
            parent.data(),
            counts.data()};
  }

  void enqueue_kernels() {
    const detail::RunTable runs = table();
    const detail::SetFilter filter{drops() ? pixels_of_set.data() : nullptr, seeds.data(),
                                   static_cast<std::uint64_t>(params.min_pixels),
                                   params.drop_at_edge};
    const detail::NumberRuns number{runs, filter.pixels_of_set};
    const detail::LabelRoots label_roots{runs, filter, counts_on_host.data()};
    const std::int64_t workers = core::workers_of(space, capacity);
    const detail::UniteRuns unite{runs, params.connectivity == Connectivity::eight};
    core::scan("kastor::label::number_runs", space, number.blocks(), number);
    core::for_each("kastor::label::unite_runs", space, unite.words(), unite);
    if (drops()) {
      core::for_each("kastor::label::count_pixels", space, workers,
                     detail::CountPixels<Exec>{runs, filter, workers});
    }
    core::scan("kastor::label::label_roots", space, label_roots.blocks(), label_roots);
    core::for_each("kastor::label::label_runs", space, workers,
                   detail::LabelRuns<Exec>{runs, workers});
  }

  /// `seed_mask`: its words are null if no seed is needed.
  void enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask) {
    const Kokkos::Profiling::ScopedRegion region("kastor::label");
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    KASTOR_EXPECTS("kastor::label", mask.ny < largest && mask.nx < largest,
                   "the mask is " + std::to_string(mask.ny) + " x " + std::to_string(mask.nx) +
                       " pixels; expected fewer than 2147483647 rows and columns");
    labels.ny = mask.ny;
    labels.nx = mask.nx;
    labels.mask = mask;
    labels.runs = labels.components = labels.dropped = labels.foreground_pixels = 0;
    seeds = seed_mask.words;
    core::grow(labels.first_in_word, space, "kastor::label::first_in_word",
               mask.ny * mask.words_per_row() + 1);
    reserve(std::max<std::int64_t>(4096, mask.ny * mask.nx / 256));
    enqueue_kernels();
  }

  [[nodiscard]] bool finish() {
    const LabelCounts& found = counts_on_host();
    KASTOR_EXPECTS(
        "kastor::label", found.runs <= std::uint64_t{most_runs},
        "the mask has " + std::to_string(found.runs) + " runs; expected at most 4294967294");
    const auto runs = static_cast<std::int64_t>(found.runs);
    labels.runs = runs;
    if (runs > capacity) {
      reserve(runs + runs / 8);
      return false;
    }
    labels.components = found.components;
    labels.dropped = found.dropped;
    labels.foreground_pixels = static_cast<std::int64_t>(found.pixels);
    return true;
  }

  void check(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask) const {
    KASTOR_EXPECTS("kastor::label", seed_mask.ny == mask.ny && seed_mask.nx == mask.nx,
                   "the mask of seeds is " + std::to_string(seed_mask.ny) + " x " +
                       std::to_string(seed_mask.nx) + " pixels; expected " +
                       std::to_string(mask.ny) + " x " + std::to_string(mask.nx) + ", as the mask");
  }

  const RunLabels<Exec>& run(const BitMask<Exec>& mask, const BitMask<Exec>& seed_mask) {
    do {
      enqueue(mask, seed_mask);
      space.fence("kastor::label::counts");
    } while (!finish());
    return labels;
  }

  /// Run numbers fit into 32 bits, and at least one number is left that no run has.
  static constexpr std::int64_t most_runs = std::numeric_limits<std::uint32_t>::max() - 1;
  Exec space;
  LabelParams params;
  RunLabels<Exec> labels;
  std::int64_t capacity = 0;  ///< capacity of the lists of runs
  Kokkos::View<LabelCounts, typename Exec::memory_space> counts;
  Kokkos::View<LabelCounts, core::HostReadableSpace<Exec>> counts_on_host;
  List<std::uint32_t> parent;
  List<std::uint64_t> pixels_of_set;
  decltype(BitMask<Exec>::words) seeds;  ///< seeds of the current call
};

template <class Exec>
Labeller<Exec>::Labeller(const Exec& space, const LabelParams& params) {
  KASTOR_EXPECTS(
      "kastor::Labeller",
      params.connectivity == Connectivity::four || params.connectivity == Connectivity::eight,
      "the connectivity is " + std::to_string(static_cast<int>(params.connectivity)) +
          "; expected 4 or 8");
  KASTOR_EXPECTS("kastor::Labeller", params.min_pixels >= 1,
                 "min_pixels is " + std::to_string(params.min_pixels) + "; expected 1 or more");
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec>
Labeller<Exec>::~Labeller() = default;
template <class Exec>
Labeller<Exec>::Labeller(Labeller&&) noexcept = default;
template <class Exec>
Labeller<Exec>& Labeller<Exec>::operator=(Labeller&&) noexcept = default;

template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::operator()(const BitMask<Exec>& mask) {
  return m_plan->run(mask, {});
}
template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::operator()(const BitMask<Exec>& mask,
                                                  const BitMask<Exec>& seeds) {
  m_plan->check(mask, seeds);
  return m_plan->run(mask, seeds);
}
template <class Exec>
void Labeller<Exec>::enqueue(const BitMask<Exec>& mask) {
  m_plan->enqueue(mask, {});
}
template <class Exec>
void Labeller<Exec>::enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seeds) {
  m_plan->check(mask, seeds);
  m_plan->enqueue(mask, seeds);
}
template <class Exec>
bool Labeller<Exec>::finish() {
  return m_plan->finish();
}
template <class Exec>
const RunLabels<Exec>& Labeller<Exec>::labels() const {
  return m_plan->labels;
}
template <class Exec>
const LabelCounts* Labeller<Exec>::counts() const {
  return m_plan->counts.data();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC) template class kastor::Labeller<EXEC>;
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
