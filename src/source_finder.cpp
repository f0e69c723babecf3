// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/foreground.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/source_rows.hpp>
#include <kastor/source_finder.hpp>
#include <string>

namespace kastor {

template <class Exec, Real T>
struct SourceFinder<Exec, T>::Plan {
  Plan(const Exec& s, const FindParams& p)
      : space(s), params(p), kernels(s, p.graph), clip(s, p.clip), sources(s, p.label), mask(s) {}

  [[nodiscard]] detail::ClipLevel level() const {
    return {params.threshold, params.about == ThresholdAbout::median, params.level.has_value(),
            params.level.value_or(0)};
  }

  void enqueue_sources(Bands<T, Exec> bands) { sources.enqueue(bands, mask.mask(), mask.lines()); }
  void find_sources(Bands<T, Exec> bands) {
    enqueue_sources(bands);
    space.fence("kastor::find_sources");
  }
  /// The clip; on a device all steps to the rows, if it is one that takes a single attempt: nobody
  /// looks at its outcome before.
  void start(Bands<T, Exec> bands) {
    {
      const Kokkos::Profiling::ScopedRegion step("kastor::sigma_clip");
      clip.start(bands, level(),
                 {mask.mask().words.data(), mask.lines(), mask.mask().words_per_row()});
    }
    if constexpr (!is_host_space_v<Exec>) {
      if (!clip.started()) return;
      detail::enqueue_foreground<Exec, T>(space, clip, bands, mask);
      enqueue_sources(bands);
    }
  }

  [[nodiscard]] FoundSources run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::find_sources");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::find_sources", bands);
    mask.reserve(shape.ny, shape.nx);
    kernels(detail::place_of(bands), [&] { start(bands); });
    const bool went_through = !is_host_space_v<Exec> && clip.started();
    if (went_through) space.fence("kastor::find_sources");
    const bool at_once = went_through && clip.decided();

    FoundSources result;
    result.clip = clip.finish(bands);
    result.threshold = level().of(result.clip.clipped.median, result.clip.clipped.std);
    if (!at_once) {
      detail::make_foreground<Exec, T>(space, clip, bands, result.threshold, mask);
      find_sources(bands);
    }
    while (!sources.finish()) find_sources(bands);
    result.foreground_pixels = sources.labels().foreground_pixels;
    result.sources = sources.rows();
    return result;
  }

  Exec space;
  FindParams params;
  detail::KernelSequence<Exec> kernels;
  detail::ClipPlan<Exec, T> clip;
  detail::SourceRows<Exec, T> sources;
  detail::SparseMask<Exec> mask;
};

template <class Exec, Real T>
SourceFinder<Exec, T>::SourceFinder(const Exec& space, const FindParams& params) {
  KASTOR_EXPECTS(
      "kastor::SourceFinder", std::isfinite(params.threshold),
      "the threshold is " + std::to_string(params.threshold) + "; expected a finite number");
  KASTOR_EXPECTS(
      "kastor::SourceFinder", !params.level || std::isfinite(*params.level),
      "the level is " + std::to_string(params.level.value_or(0)) + "; expected a finite number");
  m_plan = std::make_unique<Plan>(space, params);
}

template <class Exec, Real T>
SourceFinder<Exec, T>::~SourceFinder() = default;
template <class Exec, Real T>
SourceFinder<Exec, T>::SourceFinder(SourceFinder&&) noexcept = default;
template <class Exec, Real T>
SourceFinder<Exec, T>& SourceFinder<Exec, T>::operator=(SourceFinder&&) noexcept = default;

template <class Exec, Real T>
FoundSources SourceFinder<Exec, T>::find(const ConstImage<T, Exec>& image) {
  return find(Bands<T, Exec>(&image, 1));
}
template <class Exec, Real T>
FoundSources SourceFinder<Exec, T>::find(Bands<T, Exec> bands) {
  return m_plan->run(bands);
}
template <class Exec, Real T>
FindResult SourceFinder<Exec, T>::operator()(const ConstImage<T, Exec>& image) {
  return (*this)(Bands<T, Exec>(&image, 1));
}
template <class Exec, Real T>
FindResult SourceFinder<Exec, T>::operator()(Bands<T, Exec> bands) {
  const FoundSources found = find(bands);
  return {found.clip, found.threshold, found.foreground_pixels,
          Catalogue(found.sources.begin(), found.sources.end())};
}
template <class Exec, Real T>
const RunLabels<Exec>& SourceFinder<Exec, T>::labels() const {
  return m_plan->sources.labels();
}
template <class Exec, Real T>
const BitMask<Exec>& SourceFinder<Exec, T>::mask() const {
  return m_plan->mask.mask();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::SourceFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
