// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/kron.hpp>
#include <limits>
#include <string>

#include "core/group.hpp"
#include "core/image_shape.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "core/upload.hpp"
#include "kron/ellipse.hpp"
#include "kron/sum_ellipses.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_photometer = "kastor::KronPhotometer";

void expect_positive(const char* what, double value) {
  KASTOR_EXPECTS(
      name_of_photometer, std::isfinite(value) && value > 0,
      std::string(what) + " is " + std::to_string(value) + "; expected a finite number above 0");
}

/// An aperture of which nothing is known yet but the ellipse.
KronFlux row_for(const Island& island, const detail::LightEllipse& ellipse) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  KronFlux row{};
  row.id = island.id;
  row.flux = row.variance = row.radius = row.a = row.b = nan;
  row.flags = kron_no_aperture;
  if (ellipse.label == 0) return row;
  const double mean = (ellipse.xx + ellipse.yy) / 2;
  const double half = (ellipse.xx - ellipse.yy) / 2;
  const double spread = std::sqrt(half * half + island.var_xy * island.var_xy);
  row.a = std::sqrt(mean + spread);
  row.b = std::sqrt(std::fmax(mean - spread, 0));
  return row;
}

}  // namespace

template <class Exec, Real T>
struct KronPhotometer<Exec, T>::Plan {
  Plan(const Exec& s, const KronParams& p) : space(s), params(p) {}

  /// The label of an island among those of its side. \throws Error if it has none
  static std::uint32_t label_of(const Island& island, const RunLabels<Exec>& above,
                                const RunLabels<Exec>& below) {
    const bool is_below = (island.flags & island_negative) != 0;
    const std::int64_t label = is_below ? island.id - above.components : island.id;
    KASTOR_EXPECTS(name_of_photometer, label >= 1 && label <= (is_below ? below : above).components,
                   "island " + std::to_string(island.id) +
                       " has no label; expected the labels of the finder of the islands");
    return static_cast<std::uint32_t>(label);
  }

  void set_up(std::span<const Island> islands, const RunLabels<Exec>& above,
              const RunLabels<Exec>& below) {
    ellipses.clear();
    core::grow(rows, space, "kastor::kron::fluxes", static_cast<std::int64_t>(islands.size()));
    for (std::size_t i = 0; i < islands.size(); ++i) {
      ellipses.emplace_back(islands[i], label_of(islands[i], above, below));
      rows(i) = row_for(islands[i], ellipses.back());
    }
    core::upload_to(on_device, space, "kastor::kron::ellipses",
                    std::span<const detail::LightEllipse>(ellipses));
  }

  Exec space;
  KronParams params;
  std::vector<detail::LightEllipse> ellipses;
  Kokkos::View<detail::LightEllipse*, typename Exec::memory_space>
      on_device;  ///< a copy of `ellipses`
  Kokkos::View<KronFlux*, core::HostReadableSpace<Exec>> rows;
};

template <class Exec, Real T>
KronPhotometer<Exec, T>::KronPhotometer(const Exec& space, const KronParams& params) {
  expect_positive("factor", params.factor);
  expect_positive("min_radius", params.min_radius);
  expect_positive("search_radius", params.search_radius);
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
KronPhotometer<Exec, T>::~KronPhotometer() = default;
template <class Exec, Real T>
KronPhotometer<Exec, T>::KronPhotometer(KronPhotometer&&) noexcept = default;
template <class Exec, Real T>
KronPhotometer<Exec, T>& KronPhotometer<Exec, T>::operator=(KronPhotometer&&) noexcept = default;

template <class Exec, Real T>
std::vector<KronFlux> KronPhotometer<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                                          const Background<Exec, T>& background,
                                                          std::span<const Island> islands,
                                                          const RunLabels<Exec>& above,
                                                          const RunLabels<Exec>& below,
                                                          const BitMask<Exec>& region) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::kron");
  const auto pixels = detail::rows_of<T, Exec>(image);
  const core::ImageShape shape{name_of_photometer, {pixels.ny, pixels.nx}};
  shape.expect_background<Exec, T>(background);
  shape.expect_region(region);
  if (islands.empty()) return {};
  for (const auto* labels : {&above, &below}) {
    if (labels->mask.words.data() != nullptr) shape.expect_labels(*labels);
  }
  m_plan->set_up(islands, above, below);

  const Exec& space = m_plan->space;
  using Sum = detail::SumEllipses<Exec, T>;
  const Sum sum{pixels,
                background,
                above,
                below,
                {region.words.data(), pixels.nx},
                m_plan->params,
                m_plan->on_device.data(),
                m_plan->rows.data()};
  core::for_each_group<Sum::threads>(
      "kastor::kron::sum_ellipses", space,
      {static_cast<std::int64_t>(islands.size()), Sum::scratch_bytes}, sum);
  space.fence("kastor::kron");
  return {m_plan->rows.data(), m_plan->rows.data() + islands.size()};
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::KronPhotometer<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
