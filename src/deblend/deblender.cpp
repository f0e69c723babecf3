// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/deblend.hpp>
#include <kastor/detail/instantiations.hpp>

#include "core/image_shape.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "deblend/branches.hpp"
#include "deblend/check.hpp"
#include "deblend/measure_children.hpp"

namespace kastor {

template <class Exec, Real T>
struct Deblender<Exec, T>::Plan {
  Plan(const Exec& s, const DeblendParams& p) : branches(s, p), measure(s) {}

  [[nodiscard]] IslandPeaks peaks(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                  std::span<const Island> islands, const RunLabels<Exec>& labels) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::deblend::peaks");
    shape = detail::shape_of<T, Exec>("kastor::Deblender", bands);
    const core::ImageShape of_image{"kastor::Deblender", shape};
    of_image.expect_background<Exec, T>(background);
    of_labels = {};
    parents.clear();
    side = detail::check_islands(islands, labels) ? detail::Side::below : detail::Side::above;
    if (islands.empty()) return {};
    of_image.expect_labels(labels);
    of_labels = labels;
    const std::span<const detail::PeakRow> rows = branches.find(bands, background, side, labels);
    IslandPeaks found;
    found.reserve(rows.size());
    for (const detail::PeakRow& row : rows) {
      const std::int64_t id = islands[row.label - 1].id;
      found.push_back({id, row.x, row.y, row.n_pix, row.deviation, row.rms, row.saddle,
                       row.basins > detail::most_basins});
      parents.push_back(id);
    }
    return found;
  }

  [[nodiscard]] DeblendedIslands children(const Detection<Exec, T>* detection, Bands<T, Exec> bands,
                                          const Background<Exec, T>& background,
                                          const BitMask<Exec>& region) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::deblend::children");
    const core::ImageShape of_image{"kastor::Deblender",
                                    detail::shape_of<T, Exec>("kastor::Deblender", bands)};
    of_image.expect_background<Exec, T>(background);
    of_image.expect_region(region);
    if (detection != nullptr) {
      const auto other = detail::shape_of<T, Exec>("kastor::Deblender", detection->bands);
      of_image.expect("the detection image is", other.ny, other.nx);
      of_image.expect_background<Exec, T>(detection->background);
    }
    if (parents.empty()) return {};
    of_image.expect_labels(of_labels);
    const auto rows = measure(bands, background, detection, region, side, of_labels,
                              branches.pixels(), branches.child(), std::ssize(parents));
    return {{rows.begin(), rows.end()}, parents};
  }

  detail::Branches<Exec, T> branches;
  detail::ChildMeasurer<Exec, T> measure;
  detail::Shape shape;
  detail::Side side = detail::Side::above;
  RunLabels<Exec> of_labels;          ///< of the islands; without components if there are none
  std::vector<std::int64_t> parents;  ///< of the peaks
};

template <class Exec, Real T>
Deblender<Exec, T>::Deblender(const Exec& space, const DeblendParams& params) {
  detail::check_deblend_params(params);
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
Deblender<Exec, T>::~Deblender() = default;
template <class Exec, Real T>
Deblender<Exec, T>::Deblender(Deblender&&) noexcept = default;
template <class Exec, Real T>
Deblender<Exec, T>& Deblender<Exec, T>::operator=(Deblender&&) noexcept = default;

template <class Exec, Real T>
IslandPeaks Deblender<Exec, T>::peaks(Bands<T, Exec> bands, const Background<Exec, T>& background,
                                      std::span<const Island> islands,
                                      const RunLabels<Exec>& labels) {
  return m_plan->peaks(bands, background, islands, labels);
}
template <class Exec, Real T>
DeblendedIslands Deblender<Exec, T>::children(Bands<T, Exec> bands,
                                              const Background<Exec, T>& background,
                                              const BitMask<Exec>& region) {
  return m_plan->children(nullptr, bands, background, region);
}
template <class Exec, Real T>
DeblendedIslands Deblender<Exec, T>::children(const Detection<Exec, T>& detection,
                                              Bands<T, Exec> bands,
                                              const Background<Exec, T>& background,
                                              const BitMask<Exec>& region) {
  return m_plan->children(&detection, bands, background, region);
}
template <class Exec, Real T>
const RunLabels<Exec>& Deblender<Exec, T>::labels() const {
  return m_plan->measure.labels();
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::Deblender<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
