// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
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
namespace detail {

/// \param first_row  of the sky, which lies in the first row of the image
template <class Exec, Real T>
void simulate_rows(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                   std::int64_t first_row, const core::WritableRows<T>& rows) {
  const Kokkos::Profiling::ScopedRegion region("kastor::simulate_sky");
  const detail::Scene scene{params};
  const bool counts = params.detector.gain > 0;
  const std::int64_t pixels = rows.ny * rows.nx;
  if (!counts) detail::fill_with_noise(space, params, first_row, rows);
  if (counts || scene.has_level() || !scene.has_even_noise())
    core::for_each("kastor::simulate::shape_noise", space, pixels,
                   detail::ShapeNoise<T>{scene, first_row, rows});
  detail::add_sources(space, params, truth, first_row, rows);
  if (counts) {
    // Streams of their own: independent of the sources and of each other.
    core::for_each(
        "kastor::simulate::count_photons", space, pixels,
        detail::CountPhotons<T>{scene, core::random_bits(params.seed, 0x9401),
                                core::random_bits(params.seed, 0x9402), first_row, rows});
  }
  if (params.unobserved.where != Unobserved::Where::nowhere)
    core::for_each("kastor::simulate::hide_unobserved", space, pixels,
                   detail::HideUnobserved<T>{scene, first_row, rows});
  space.fence("kastor::simulate::sky");
}

}  // namespace detail

std::int64_t sky_work_bytes(const SkyParams& params, const std::vector<TrueSource>& truth,
                            std::int64_t rows) {
  detail::check("kastor::sky_work_bytes", params);
  const std::int64_t stamps = detail::stamp_bytes(params, truth, rows);
  if (params.detector.gain > 0) return stamps;
  const std::int64_t at_once = std::min(rows, detail::noise_rows_at_once);
  const std::int64_t reach = detail::make_noise_taps(params).reach;
  return stamps + (at_once + 2 * reach) * params.nx * static_cast<std::int64_t>(sizeof(double));
}

template <class Exec, Real T>
void simulate_sky(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                  const Image<T, Exec>& image) {
  detail::check("kastor::simulate_sky", params);
  const auto rows = core::writable_rows_of(image);
  KASTOR_EXPECTS("kastor::simulate_sky", rows.ny == params.ny && rows.nx == params.nx,
                 "the image is " + std::to_string(rows.ny) + " x " + std::to_string(rows.nx) +
                     " pixels; expected " + std::to_string(params.ny) + " x " +
                     std::to_string(params.nx));
  detail::simulate_rows(space, params, truth, 0, rows);
}

template <class Exec, Real T>
void simulate_sky_rows(const Exec& space, const SkyParams& params,
                       const std::vector<TrueSource>& truth, std::int64_t first_row,
                       const Image<T, Exec>& image) {
  detail::check("kastor::simulate_sky_rows", params);
  const auto rows = core::writable_rows_of(image);
  const bool are_there =
      first_row >= 0 && first_row <= params.ny && rows.ny <= params.ny - first_row;
  KASTOR_EXPECTS("kastor::simulate_sky_rows", are_there && rows.nx == params.nx,
                 "the image is " + std::to_string(rows.ny) + " x " + std::to_string(rows.nx) +
                     " pixels from row " + std::to_string(first_row) + " on; expected rows of " +
                     std::to_string(params.ny) + " x " + std::to_string(params.nx));
  if (rows.ny > 0) detail::simulate_rows(space, params, truth, first_row, rows);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                        \
  template void kastor::simulate_sky<EXEC, T>(const EXEC&, const kastor::SkyParams&,       \
                                              const std::vector<kastor::TrueSource>&,      \
                                              const kastor::Image<T, EXEC>&);              \
  template void kastor::simulate_sky_rows<EXEC, T>(const EXEC&, const kastor::SkyParams&,  \
                                                   const std::vector<kastor::TrueSource>&, \
                                                   std::int64_t, const kastor::Image<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
