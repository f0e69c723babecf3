// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/source_rows.hpp>
#include <kastor/source_finder.hpp>
#include <string>

namespace kastor {

template <class Exec, Real T>
struct SourceFinder<Exec, T>::Plan {
  Plan(const Exec& s, const FindParams& p)
      : space(s), params(p), clip(s, p.clip), sources(s, p.label) {}

  [[nodiscard]] double level(const SigmaClipResult& clipped) const {
    if (params.level) return *params.level;
    const double about = params.about == ThresholdAbout::median ? clipped.clipped.median : 0.0;
    return about + params.threshold * clipped.clipped.std;
  }

  void make_mask(Bands<T, Exec> bands, double threshold) {
    const Kokkos::Profiling::ScopedRegion region("kastor::threshold");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::find_sources", bands);
    mask.ny = shape.ny;
    mask.nx = shape.nx;
    const auto words = static_cast<std::size_t>(shape.ny * mask.words_per_row());
    if (storage.extent(0) < words) {
      storage = {};
      storage = decltype(storage)(
          Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::threshold::mask"), words);
    }
    mask.words = decltype(mask.words)(storage.data(), static_cast<std::size_t>(shape.ny),
                                      static_cast<std::size_t>(mask.words_per_row()));
    std::int64_t first_row = 0;
    for (const auto& band : bands) {
      threshold_into<Exec, T>(space, band, threshold, mask, first_row);
      first_row += static_cast<std::int64_t>(band.extent(0));
    }
  }

  [[nodiscard]] FindResult run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::find_sources");
    FindResult result;
    result.clip = clip(bands);
    result.threshold = level(result.clip);
    make_mask(bands, result.threshold);
    do {
      sources.enqueue(bands, mask);
      space.fence("kastor::find_sources::rows");
    } while (!sources.finish());
    result.foreground_pixels = sources.labels().foreground_pixels;
    result.sources = sources.rows();
    return result;
  }

  Exec space;
  FindParams params;
  SigmaClipper<Exec, T> clip;
  detail::SourceRows<Exec, T> sources;
  /// Grows to the largest image; `mask` is a part of it.
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> storage;
  BitMask<Exec> mask;
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
FindResult SourceFinder<Exec, T>::operator()(const ConstImage<T, Exec>& image) {
  return m_plan->run(Bands<T, Exec>(&image, 1));
}
template <class Exec, Real T>
FindResult SourceFinder<Exec, T>::operator()(Bands<T, Exec> bands) {
  return m_plan->run(bands);
}
template <class Exec, Real T>
const RunLabels<Exec>& SourceFinder<Exec, T>::labels() const {
  return m_plan->sources.labels();
}
template <class Exec, Real T>
const BitMask<Exec>& SourceFinder<Exec, T>::mask() const {
  return m_plan->mask;
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::SourceFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
