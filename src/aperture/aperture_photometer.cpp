// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/aperture.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>

#include "aperture/sum_apertures.hpp"
#include "core/group.hpp"
#include "core/image_shape.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"
#include "core/upload.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_apertures = "kastor::AperturePhotometer";
/// Above this, sums of squares of distances would lose the parts of pixels.
constexpr double largest_aperture = 1e6;
/// Groups of one launch; the rest follows in another.
constexpr std::int64_t most_apertures = std::int64_t{1} << 24;

}  // namespace

template <class Exec, Real T>
struct AperturePhotometer<Exec, T>::Plan {
  Plan(const Exec& s, const std::vector<double>& r) : space(s), radii(r) {
    core::upload_to(radii_there, space, "kastor::aperture::radii", std::span<const double>(radii));
  }

  Exec space;
  std::vector<double> radii;
  Kokkos::View<double*, typename Exec::memory_space> radii_there;
  Kokkos::View<AperturePosition*, typename Exec::memory_space> positions;
  Kokkos::View<ApertureFlux*, core::HostReadableSpace<Exec>> fluxes;
};

template <class Exec, Real T>
AperturePhotometer<Exec, T>::AperturePhotometer(const Exec& space,
                                                const std::vector<double>& radii) {
  KASTOR_EXPECTS(name_of_apertures, !radii.empty(), "no radius; expected at least one");
  for (const double radius : radii) {
    KASTOR_EXPECTS(name_of_apertures, radius > 0 && radius <= largest_aperture,
                   "a radius is " + std::to_string(radius) +
                       " pixels; expected a number above 0 and up to 1000000");
  }
  m_plan = std::make_unique<Plan>(space, radii);
}
template <class Exec, Real T>
AperturePhotometer<Exec, T>::~AperturePhotometer() = default;
template <class Exec, Real T>
AperturePhotometer<Exec, T>::AperturePhotometer(AperturePhotometer&&) noexcept = default;
template <class Exec, Real T>
AperturePhotometer<Exec, T>& AperturePhotometer<Exec, T>::operator=(AperturePhotometer&&) noexcept =
    default;

template <class Exec, Real T>
std::vector<ApertureFlux> AperturePhotometer<Exec, T>::operator()(
    const ConstImage<T, Exec>& image, const Background<Exec, T>& background,
    std::span<const AperturePosition> positions, const BitMask<Exec>& region) {
  const Kokkos::Profiling::ScopedRegion profile("kastor::aperture");
  const auto pixels = detail::rows_of<T, Exec>(image);
  const core::ImageShape shape{name_of_apertures, {pixels.ny, pixels.nx}};
  shape.expect_background<Exec, T>(background);
  shape.expect_region(region);
  if (positions.empty()) return {};

  Plan& plan = *m_plan;
  const auto radii = static_cast<std::int64_t>(plan.radii.size());
  const std::int64_t count = static_cast<std::int64_t>(positions.size()) * radii;
  core::upload_to(plan.positions, plan.space, "kastor::aperture::positions", positions);
  core::grow(plan.fluxes, plan.space, "kastor::aperture::fluxes", count);
  using Sum = detail::SumApertures<Exec, T>;
  const std::int64_t of_launch =
      most_apertures / radii > 1 ? most_apertures / radii * radii : radii;
  for (std::int64_t begin = 0; begin < count; begin += of_launch) {
    const std::int64_t groups = count - begin < of_launch ? count - begin : of_launch;
    const Sum sum{pixels,
                  background,
                  {region.words.data(), pixels.nx},
                  plan.positions.data() + begin / radii,
                  plan.radii_there.data(),
                  radii,
                  plan.fluxes.data() + begin};
    core::for_each_group<Sum::threads>("kastor::aperture::sum", plan.space,
                                       {groups, Sum::scratch_bytes}, sum);
  }
  plan.space.fence("kastor::aperture");
  return {plan.fluxes.data(), plan.fluxes.data() + count};
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::AperturePhotometer<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
