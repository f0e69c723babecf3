// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/measure.hpp>
#include <kastor/source_finder.hpp>
#include <limits>
#include <optional>
#include <string>

#include "core/image_passes.hpp"
#include "core/plan_memory.hpp"
#include "core/ranks.hpp"
#include "sigma_clip/clip_plan.hpp"
#include "source_finder/foreground.hpp"
#include "source_finder/pass_finder.hpp"

namespace kastor {

template <class Exec, Real T>
struct SourceFinder<Exec, T>::Plan {
  Plan(const Exec& s, const FindParams& p)
      : space(s), params(p), clip(s, p.clip), labeller(s, p.label), measurer(s) {}

  [[nodiscard]] detail::ClipLevel level() const { return detail::level_of(params); }

  void reserve_mask(std::int64_t ny, std::int64_t nx) {
    mask.ny = ny;
    mask.nx = nx;
    core::grow(words, space, "kastor::find_sources::mask", ny * mask.words_per_row());
    mask.words = decltype(mask.words)(words.data(), static_cast<std::size_t>(ny),
                                      static_cast<std::size_t>(mask.words_per_row()));
  }

  void enqueue_sources(Bands<T, Exec> bands) {
    labeller.enqueue(mask);
    measurer.enqueue(bands, labeller.labels(), labeller.counts());
  }
  void find_sources(Bands<T, Exec> bands) {
    enqueue_sources(bands);
    space.fence("kastor::find_sources");
  }
  /// False if a list was too short; it has grown.
  [[nodiscard]] bool finish_sources() {
    return labeller.finish() && measurer.finish(labeller.labels().components);
  }

  /// Enqueues all steps up to the rows, on the assumption that the first attempt at the clip
  /// succeeds: the host does not look at its outcome in between. \return whether it has succeeded
  [[nodiscard]] bool run_at_once(Bands<T, Exec> bands) {
    {
      const Kokkos::Profiling::ScopedRegion step("kastor::sigma_clip");
      clip.start(bands, level(), mask.words.data());
    }
    if (!clip.started()) return false;
    {
      const Kokkos::Profiling::ScopedRegion step("kastor::threshold");
      detail::mark_foreground<Exec, T>(space, bands, clip.outcome(), mask);
    }
    find_sources(bands);
    return clip.decided();
  }

  [[nodiscard]] FoundSources run(Bands<T, Exec> bands) {
    const Kokkos::Profiling::ScopedRegion region("kastor::find_sources");
    const detail::Shape shape = detail::shape_of<T, Exec>("kastor::find_sources", bands);
    reserve_mask(shape.ny, shape.nx);
    const bool at_once = run_at_once(bands);

    FoundSources result;
    result.clip = clip.finish(bands);
    result.threshold = level().of(result.clip.clipped.median, result.clip.clipped.std);
    if (!at_once) {
      std::int64_t first_row = 0;
      for (const auto& band : bands) {
        threshold_into<Exec, T>(space, band, result.threshold, mask, first_row);
        first_row += static_cast<std::int64_t>(band.extent(0));
      }
      find_sources(bands);
    }
    while (!finish_sources()) find_sources(bands);
    result.foreground_pixels = labeller.labels().foreground_pixels;
    result.sources = measurer.rows();
    return result;
  }

  /// The same with the rows of other ranks above and below.
  [[nodiscard]] FoundSources run_with_ranks(Bands<T, Exec> bands) {
    const detail::Shape own = detail::shape_of<T, Exec>("kastor::find_sources", bands);
    const auto shapes = core::gather_lists<detail::Shape>(*ranks, {&own, 1});
    detail::Shape whole;
    std::int64_t first_row = 0;
    for (std::size_t rank = 0; rank < shapes.size(); ++rank) {
      const detail::Shape& rows = shapes[rank].front();
      if (rank == static_cast<std::size_t>(ranks->rank())) first_row = whole.ny;
      if (rows.ny == 0) continue;
      if (whole.ny == 0) whole.nx = rows.nx;
      KASTOR_EXPECTS("kastor::find_sources", rows.nx == whole.nx,
                     "the rows of rank " + std::to_string(rank) + " are " +
                         std::to_string(rows.nx) + " pixels wide; expected " +
                         std::to_string(whole.nx) + ", as those of the ranks before it");
      whole.ny += rows.ny;
    }
    core::BandPasses<Exec, T> image(bands, whole, first_row, first_row + own.ny, ranks);
    // All pixels are in memory already.
    constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 4;
    return (*passes)(image, unlimited);
  }
  void expect_one_rank(const char* what) const {
    KASTOR_EXPECTS("kastor::SourceFinder", ranks == nullptr,
                   std::string(what) + " of an image whose rows several ranks have are not made");
  }

  Exec space;
  FindParams params;
  /// With several ranks, another way is taken.
  Communicator* ranks = nullptr;
  std::optional<detail::PassFinder<Exec, T>> passes;
  detail::ClipPlan<Exec, T> clip;
  Labeller<Exec> labeller;
  Measurer<Exec, T> measurer;
  Kokkos::View<std::uint64_t*, typename Exec::memory_space> words;
  BitMask<Exec> mask;
};

template <class Exec, Real T>
SourceFinder<Exec, T>::SourceFinder(const Exec& space, const FindParams& params) {
  detail::check_threshold(params);
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
SourceFinder<Exec, T>::SourceFinder(const Exec& space, const FindParams& params,
                                    Communicator& ranks)
    : SourceFinder(space, params) {
  if (ranks.size() < 2) return;
  m_plan->ranks = &ranks;
  m_plan->passes.emplace(space, params);
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
  return m_plan->ranks != nullptr ? m_plan->run_with_ranks(bands) : m_plan->run(bands);
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
  m_plan->expect_one_rank("labels");
  return m_plan->labeller.labels();
}
template <class Exec, Real T>
const BitMask<Exec>& SourceFinder<Exec, T>::mask() const {
  m_plan->expect_one_rank("masks");
  return m_plan->mask;
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::SourceFinder<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
