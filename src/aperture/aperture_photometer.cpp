// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <kastor/aperture.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>
#include <utility>

#include "aperture/sum_apertures.hpp"
#include "core/group.hpp"
#include "core/plan_memory.hpp"
#include "core/portable.hpp"

namespace kastor {
namespace {

constexpr const char* name_of_apertures = "kastor::AperturePhotometer";
/// Above this, sums of squares of distances would lose the parts of pixels.
constexpr double largest_aperture = 1e6;
/// Groups of one launch; the rest follows in another.
constexpr std::int64_t most_apertures = std::int64_t{1} << 24;

void expect_same_size(const std::string& what, std::int64_t ny, std::int64_t nx,
                      std::int64_t of_image_ny, std::int64_t of_image_nx) {
  KASTOR_EXPECTS(name_of_apertures, ny == of_image_ny && nx == of_image_nx,
                 what + std::to_string(ny) + " x " + std::to_string(nx) + " pixels; expected " +
                     std::to_string(of_image_ny) + " x " + std::to_string(of_image_nx) +
                     ", as the image");
}

template <class Exec, Real T>
void expect_size_of_map(const char* what, const PixelMap<Exec, T>& map, std::int64_t ny,
                        std::int64_t nx) {
  if (map.kind() != PixelMap<Exec, T>::Kind::image) return;
  const auto rows = detail::rows_of<T, Exec>(map.image());
  expect_same_size(std::string("the ") + what + " map is ", rows.ny, rows.nx, ny, nx);
}

/// Copies a list of the host to memory that grows.
template <class View, class Exec, class V>
void copy_list_to(View& list, const Exec& space, const char* label, std::span<const V> values) {
  using HostList =
      Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  core::grow(list, space, label, static_cast<std::int64_t>(values.size()));
  const View used(list, std::pair<std::size_t, std::size_t>(0, values.size()));
  Kokkos::deep_copy(space, used, HostList(values.data(), values.size()));
}

}  // namespace

template <class Exec, Real T>
struct AperturePhotometer<Exec, T>::Plan {
  Plan(const Exec& s, const std::vector<double>& r) : space(s), radii(r) {
    copy_list_to(radii_there, space, "kastor::aperture::radii", std::span<const double>(radii));
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
  expect_size_of_map<Exec, T>("level", background.level, pixels.ny, pixels.nx);
  expect_size_of_map<Exec, T>("rms", background.rms, pixels.ny, pixels.nx);
  if (region.words.data() != nullptr)
    expect_same_size("the region is ", region.ny, region.nx, pixels.ny, pixels.nx);
  if (positions.empty()) return {};

  Plan& plan = *m_plan;
  const auto radii = static_cast<std::int64_t>(plan.radii.size());
  const std::int64_t count = static_cast<std::int64_t>(positions.size()) * radii;
  copy_list_to(plan.positions, plan.space, "kastor::aperture::positions", positions);
  core::grow(plan.fluxes, plan.space, "kastor::aperture::fluxes", count);
  using Sum = detail::SumApertures<Exec, T>;
  const std::int64_t of_launch =
      most_apertures / radii > 1 ? most_apertures / radii * radii : radii;
  for (std::int64_t begin = 0; begin < count; begin += of_launch) {
    const std::int64_t groups = count - begin < of_launch ? count - begin : of_launch;
    const Sum sum{pixels,
                  background,
                  region.words.data(),
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
