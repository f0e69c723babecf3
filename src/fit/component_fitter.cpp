// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/fit.hpp>
#include <string>
#include <utility>

#include "core/group.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "fit/fit_input.hpp"
#include "fit/fit_rounds.hpp"
#include "fit/fit_rows.hpp"
#include "fit/group_fitter.hpp"
#include "fit/residual_peaks.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_fitter = "kastor::ComponentFitter";

template <class Exec, Real T>
void expect_map_of_shape(const char* what, const PixelMap<Exec, T>& map,
                         const detail::Shape& shape) {
  using Kind = typename PixelMap<Exec, T>::Kind;
  if (map.kind() == Kind::image) {
    const auto rows = detail::rows_of<T, Exec>(map.image());
    detail::expect_fit_shape(std::string("the ") + what + " map is",
                             detail::Shape{rows.ny, rows.nx}, shape);
  }
  if (map.kind() == Kind::surface) {
    KASTOR_EXPECTS(name_of_fitter, map.surface().nodes.size() > 0,
                   std::string("the ") + what + " map has no nodes; expected at least one");
  }
}

/// A list in the memory of a backend, as long as the longest that it held.
template <class Exec, class V>
class UploadedList {
 public:
  /// Enqueues only: the list must live until `space` is fenced.
  [[nodiscard]] const V* operator()(const Exec& space, const char* label,
                                    const std::vector<V>& list) {
    using HostList =
        Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    core::grow(m_list, space, label, static_cast<std::int64_t>(list.size()));
    const Kokkos::View<V*, typename Exec::memory_space> used(
        m_list, std::pair<std::size_t, std::size_t>(0, list.size()));
    Kokkos::deep_copy(space, used, HostList(list.data(), list.size()));
    return m_list.data();
  }

 private:
  Kokkos::View<V*, typename Exec::memory_space> m_list;
};

}  // namespace

template <class Exec, Real T>
struct ComponentFitter<Exec, T>::Plan {
  Plan(const Exec& s, const FitParams& p)
      : space(s),
        rules(p),
        fitter(s, detail::noise_of(p)),
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
    host_bands.clear();
    first_rows.clear();
    std::int64_t row = 0;
    for (const auto& band : bands) {
      const auto rows = detail::rows_of<T, Exec>(band);
      host_bands.push_back(rows);
      first_rows.push_back(row);
      row += rows.ny;
    }
    band_rows = {bands_there(space, "kastor::fit::bands", host_bands),
                 first_rows_there(space, "kastor::fit::first_rows", first_rows),
                 static_cast<std::int32_t>(host_bands.size())};
  }

  [[nodiscard]] std::span<const detail::ResidualPeak> find_residuals(
      const std::vector<detail::ResidualTask>& to_search, const std::vector<Gaussian>& of_models) {
    const auto count = static_cast<std::int64_t>(to_search.size());
    core::grow(peaks_found, space, "kastor::fit::residual_peaks", count);
    using Find = detail::FindResidualPeaks<Exec, T>;
    const Find find{band_rows,
                    image.background,
                    image.labels,
                    image.region,
                    image.side,
                    tasks(space, "kastor::fit::residual_tasks", to_search),
                    models(space, "kastor::fit::models", of_models),
                    peaks_found.data()};
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
    const detail::EvaluateBackground<Exec, T> evaluate{
        image.background, pixels(space, "kastor::fit::pixels", asked), skies.data()};
    core::for_each("kastor::fit::evaluate_background", space, count, evaluate);
    space.fence("kastor::fit::background");
    for (std::size_t i = 0; i < components.size(); ++i) {
      components[i].rms = skies(i).rms;
      components[i].background = skies(i).level;
    }
  }

  template <class V>
  using HostReadableList = Kokkos::View<V*, core::HostReadableSpace<Exec>>;
  Exec space;
  detail::FitRules rules;
  detail::GroupFitter<Exec, T> fitter;
  detail::FitRounds rounds;
  detail::FitImage<Exec, T> image{};
  std::vector<detail::IslandFit> islands;
  std::vector<detail::Rows<T>> host_bands;
  std::vector<std::int64_t> first_rows;  ///< of each band
  std::vector<detail::AskedPixel> asked;
  UploadedList<Exec, detail::Rows<T>> bands_there;
  UploadedList<Exec, std::int64_t> first_rows_there;
  UploadedList<Exec, detail::ResidualTask> tasks;
  UploadedList<Exec, Gaussian> models;
  UploadedList<Exec, detail::AskedPixel> pixels;
  detail::BandRows<T> band_rows{};
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
  expect_map_of_shape<Exec, T>("level", background.level, shape);
  expect_map_of_shape<Exec, T>("rms", background.rms, shape);
  if (region.words.data() != nullptr)
    detail::expect_fit_shape("the region is", detail::Shape{region.ny, region.nx}, shape);
  if (labels.components > 0 || !islands.empty())
    detail::expect_fit_shape("the labels are of", detail::Shape{labels.ny, labels.nx}, shape);
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
