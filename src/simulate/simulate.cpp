// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/simulate.hpp>
#include <string>
#include <vector>

#include "simulate/add_sources.hpp"
#include "simulate/noise.hpp"
#include "simulate/scene_pixels.hpp"
#include "simulate/sky_params.hpp"

namespace kastor {

template <class Exec, Real T>
void simulate_sky(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                  const Image<T, Exec>& image) {
  const Kokkos::Profiling::ScopedRegion region("kastor::simulate_sky");
  detail::check("kastor::simulate_sky", params);
  const auto rows = core::writable_rows_of(image);
  KASTOR_EXPECTS("kastor::simulate_sky", rows.ny == params.ny && rows.nx == params.nx,
                 "the image is " + std::to_string(rows.ny) + " x " + std::to_string(rows.nx) +
                     " pixels; expected " + std::to_string(params.ny) + " x " +
                     std::to_string(params.nx));
  const detail::Scene scene{params};
  const bool counts = params.detector.gain > 0;
  const std::int64_t pixels = rows.ny * rows.nx;
  if (!counts) detail::fill_with_noise(space, params, rows);
  if (counts || scene.has_level() || !scene.has_even_noise())
    core::for_each("kastor::simulate::shape_noise", space, pixels,
                   detail::ShapeNoise<T>{scene, rows});
  detail::add_sources(space, params, truth, rows);
  if (counts) {
    // Streams of their own: independent of the sources and of each other.
    core::for_each("kastor::simulate::count_photons", space, pixels,
                   detail::CountPhotons<T>{scene, core::random_bits(params.seed, 0x9401),
                                           core::random_bits(params.seed, 0x9402), rows});
  }
  if (params.unobserved.where != Unobserved::Where::nowhere)
    core::for_each("kastor::simulate::hide_unobserved", space, pixels,
                   detail::HideUnobserved<T>{scene, rows});
  space.fence("kastor::simulate::sky");
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                   \
  template void kastor::simulate_sky<EXEC, T>(const EXEC&, const kastor::SkyParams&,  \
                                              const std::vector<kastor::TrueSource>&, \
                                              const kastor::Image<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
