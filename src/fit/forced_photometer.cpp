// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/forced.hpp>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/image_shape.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "core/upload.hpp"
#include "fit/ellipse_algebra.hpp"
#include "fit/fit_input.hpp"
#include "fit/forced_fits.hpp"
#include "fit/forced_groups.hpp"
#include "fit/forced_places.hpp"
#include "fit/group_fitter.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_forced = "kastor::ForcedPhotometer";
/// Largest axis of a shape [pixel].
constexpr double largest_forced_shape = 1e5;

void expect_forced_shape(const std::string& what, const PixelEllipse& shape) {
  KASTOR_EXPECTS(name_of_forced,
                 shape.minor > 0 && shape.minor <= shape.major &&
                     shape.major <= largest_forced_shape && std::isfinite(shape.angle),
                 what + " has the axes " + std::to_string(shape.major) + " and " +
                     std::to_string(shape.minor) + " pixels and the angle " +
                     std::to_string(shape.angle) +
                     "; expected 0 < minor <= major <= 100000 and a finite angle");
}

bool is_on_image(const ForcedPosition& position, const detail::Shape& shape) {
  return position.x >= -0.5 && position.x < static_cast<double>(shape.nx) - 0.5 &&
         position.y >= -0.5 && position.y < static_cast<double>(shape.ny) - 0.5;
}

}  // namespace

template <class Exec, Real T>
struct ForcedPhotometer<Exec, T>::Plan {
  Plan(const Exec& s, const ForcedParams& p)
      : space(s), params(p), fitter(s, detail::noise_of(p.beam, p.noise_area)) {}

  /// The positions that can be measured, as Gaussians of height 0, and their rows.
  void choose(std::span<const ForcedPosition> positions, const detail::Shape& shape) {
    gaussians.clear();
    rows_of_gaussians.clear();
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const ForcedPosition& each = positions[i];
      if (each.shape)
        expect_forced_shape("the shape of position " + std::to_string(i + 1), *each.shape);
      if (!is_on_image(each, shape)) continue;
      gaussians.push_back(gaussian_of(each.shape.value_or(params.beam), 0, each.x, each.y));
      rows_of_gaussians.push_back(i);
    }
  }

  /// The usable pixel nearest to each, band after band.
  void look(const detail::FitImage<Exec, T>& image) {
    const auto count = static_cast<std::int64_t>(gaussians.size());
    core::upload_to(gaussians_there, space, "kastor::forced::gaussians",
                    std::span<const Gaussian>(gaussians));
    core::grow(places, space, "kastor::forced::places", count);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    space.fence("kastor::forced: the places are set by the host");
    for (std::int64_t i = 0; i < count; ++i) places(i) = {infinity, nan, nan, nan};
    const double radius = detail::forced_radius * detail::fwhm_of_sigma;
    for (const bool only_centre : {true, false}) {
      std::int64_t first_row = 0;
      for (const auto& band : image.bands) {
        const auto rows = detail::rows_of<T, Exec>(band);
        core::for_each("kastor::forced::look", space, count,
                       detail::LookAtPlaces<Exec, T>{rows,
                                                     first_row,
                                                     image.background,
                                                     {image.region, rows.nx},
                                                     gaussians_there.data(),
                                                     radius * radius,
                                                     only_centre,
                                                     places.data()});
        first_row += rows.ny;
      }
    }
    space.fence("kastor::forced: the host reads the places");
  }

  Exec space;
  ForcedParams params;
  detail::GroupFitter<Exec, T> fitter;
  std::vector<Gaussian> gaussians;
  std::vector<std::size_t> rows_of_gaussians;
  Kokkos::View<Gaussian*, typename Exec::memory_space> gaussians_there;
  Kokkos::View<detail::ForcedPlace*, core::HostReadableSpace<Exec>> places;
};

template <class Exec, Real T>
ForcedPhotometer<Exec, T>::ForcedPhotometer(const Exec& space, const ForcedParams& params) {
  expect_forced_shape("the beam", params.beam);
  KASTOR_EXPECTS(name_of_forced, params.noise_area >= 1 && std::isfinite(params.noise_area),
                 "noise_area is " + std::to_string(params.noise_area) +
                     "; expected a finite number of at least 1");
  m_plan = std::make_unique<Plan>(space, params);
}
template <class Exec, Real T>
ForcedPhotometer<Exec, T>::~ForcedPhotometer() = default;
template <class Exec, Real T>
ForcedPhotometer<Exec, T>::ForcedPhotometer(ForcedPhotometer&&) noexcept = default;
template <class Exec, Real T>
ForcedPhotometer<Exec, T>& ForcedPhotometer<Exec, T>::operator=(ForcedPhotometer&&) noexcept =
    default;

template <class Exec, Real T>
FittedComponents ForcedPhotometer<Exec, T>::operator()(Bands<T, Exec> bands,
                                                       const Background<Exec, T>& background,
                                                       std::span<const ForcedPosition> positions,
                                                       const BitMask<Exec>& region) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::forced");
  const auto shape = detail::shape_of<T, Exec>(name_of_forced, bands);
  const core::ImageShape of_image{name_of_forced, shape};
  of_image.expect_background<Exec, T>(background);
  of_image.expect_region(region);
  Plan& plan = *m_plan;
  plan.choose(positions, shape);
  detail::ForcedFits fits(positions, plan.params, plan.rows_of_gaussians, plan.gaussians);
  const detail::FitImage<Exec, T> image{
      bands, background, {}, region.words.data(), detail::Side::above};
  if (!plan.gaussians.empty()) plan.look(image);
  return fits.run({plan.places.data(), plan.gaussians.size()},
                  [&](std::span<const detail::FitComponent> components,
                      std::span<const detail::FitGroup> groups, std::span<const Gaussian> fixed,
                      bool with_covariance) -> const detail::GroupFits& {
                    return plan.fitter(image, components, groups, fixed, with_covariance);
                  });
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::ForcedPhotometer<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
