// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/fit.hpp>
#include <span>

#include "core/group.hpp"
#include "core/image_rows.hpp"
#include "core/image_shape.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "core/upload.hpp"
#include "fit/band_list.hpp"
#include "fit/fit_input.hpp"
#include "fit/fit_rounds.hpp"
#include "fit/fit_rows.hpp"
#include "fit/group_fitter.hpp"
#include "fit/residual_peaks.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_fitter = "kastor::ComponentFitter";

}  // namespace

template <class Exec, Real T>
struct ComponentFitter<Exec, T>::Plan {
  Plan(const Exec& s, const FitParams& p)
      : space(s),
        rules(p),
        fitter(s, detail::noise_of(p.beam, p.noise_area)),
        rounds(rules,
               {[this](std::span<const detail::FitComponent> components,
                       std::span<const detail::FitGroup> groups, std::span<const Gaussian> fixed,
                       bool with_covariance) -> const detail::GroupFits& {
                  return fitter(image, components, groups, fixed, with_covariance);
                },
                [this](const std::vector<detail::ResidualTask>& to_search,
                       const std::vector<Gaussian>& of_models) {
                  return find_residuals(to_search, of_models);
                }}) {}

  void set_up(Bands<T, Exec> bands, const Background<Exec, T>& background,
              std::span<const Island> of_side, const RunLabels<Exec>& labels,
              std::span<const IslandPeak> peaks, const BitMask<Exec>& region) {
    image = {bands, background, labels, region.words.data(), detail::side_of_islands(of_side)};
    detail::begin_islands(of_side, peaks, rules, islands);
    rows = band_list(space, bands);
  }

  [[nodiscard]] std::span<const detail::ResidualPeak> find_residuals(
      const std::vector<detail::ResidualTask>& to_search, const std::vector<Gaussian>& of_models) {
    const auto count = static_cast<std::int64_t>(to_search.size());
    core::grow(peaks_found, space, "kastor::fit::residual_peaks", count);
    using Find = detail::FindResidualPeaks<Exec, T>;
    core::upload_to(tasks, space, "kastor::fit::residual_tasks",
                    std::span<const detail::ResidualTask>(to_search));
    core::upload_to(models, space, "kastor::fit::models", std::span<const Gaussian>(of_models));
    const Find find{rows,       image.background, image.labels,  {image.region, image.labels.nx},
                    image.side, tasks.data(),     models.data(), peaks_found.data()};
    core::for_each_group<Find::threads>("kastor::fit::find_residual_peaks", space,
                                        {count, Find::scratch_bytes}, find);
    space.fence("kastor::fit::residual_peaks");
    return {peaks_found.data(), to_search.size()};
  }

  /// Sets the maps at the pixels of the components.
  void evaluate_background(const detail::Shape& shape, Components& components) {
    const auto count = static_cast<std::int64_t>(components.size());
    asked.clear();
    for (const Component& c : components) asked.push_back(detail::pixel_of(c.gaussian, shape));
    core::grow(skies, space, "kastor::fit::skies", count);
    core::upload_to(pixels, space, "kastor::fit::pixels",
                    std::span<const detail::AskedPixel>(asked));
    const detail::EvaluateBackground<Exec, T> evaluate{image.background, pixels.data(),
                                                       skies.data()};
    core::for_each("kastor::fit::evaluate_background", space, count, evaluate);
    space.fence("kastor::fit::background");
    for (std::size_t i = 0; i < components.size(); ++i) {
      components[i].rms = skies(i).rms;
      components[i].background = skies(i).level;
    }
  }

  template <class V>
  using DeviceList = Kokkos::View<V*, typename Exec::memory_space>;
  template <class V>
  using HostReadableList = Kokkos::View<V*, core::HostReadableSpace<Exec>>;
  Exec space;
  detail::FitRules rules;
  detail::GroupFitter<Exec, T> fitter;
  detail::FitRounds rounds;
  detail::FitImage<Exec, T> image{};
  std::vector<detail::IslandFit> islands;
  std::vector<detail::AskedPixel> asked;
  detail::BandList<Exec, T> band_list;
  core::ImageRows<T> rows;
  DeviceList<detail::ResidualTask> tasks;
  DeviceList<Gaussian> models;
  DeviceList<detail::AskedPixel> pixels;
  HostReadableList<detail::ResidualPeak> peaks_found;
  HostReadableList<detail::LevelAndRms> skies;
};

template <class Exec, Real T>
ComponentFitter<Exec, T>::ComponentFitter(const Exec& space, const FitParams& params) {
  detail::expect_fit_params(params);
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
ComponentFitter<Exec, T>::~ComponentFitter() = default;
template <class Exec, Real T>
ComponentFitter<Exec, T>::ComponentFitter(ComponentFitter&&) noexcept = default;
template <class Exec, Real T>
ComponentFitter<Exec, T>& ComponentFitter<Exec, T>::operator=(ComponentFitter&&) noexcept = default;

template <class Exec, Real T>
FittedComponents ComponentFitter<Exec, T>::operator()(
    Bands<T, Exec> bands, const Background<Exec, T>& background, std::span<const Island> islands,
    const RunLabels<Exec>& labels, std::span<const IslandPeak> peaks, const BitMask<Exec>& region) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::fit");
  const detail::Shape shape = detail::shape_of<T, Exec>(name_of_fitter, bands);
  const core::ImageShape of_image{name_of_fitter, shape};
  of_image.expect_background<Exec, T>(background);
  of_image.expect_region(region);
  if (labels.components > 0 || !islands.empty()) of_image.expect_labels(labels);
  detail::expect_fit_islands(islands, labels.components, peaks);
  if (islands.empty()) return detail::rows_of_fits({});

  m_plan->set_up(bands, background, islands, labels, peaks, region);
  m_plan->rounds.run(m_plan->islands);
  FittedComponents result = detail::rows_of_fits(m_plan->islands);
  m_plan->evaluate_background(shape, result.components);
  return result;
}

template <class Exec, Real T>
FittedComponents ComponentFitter<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                                      const Background<Exec, T>& background,
                                                      std::span<const Island> islands,
                                                      const RunLabels<Exec>& labels,
                                                      std::span<const IslandPeak> peaks,
                                                      const BitMask<Exec>& region) {
  return (*this)(Bands<T, Exec>(&image, 1), background, islands, labels, peaks, region);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::ComponentFitter<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
