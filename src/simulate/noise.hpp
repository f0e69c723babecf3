// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_NOISE_HPP
#define KASTOR_SIMULATE_NOISE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/launch.hpp"
#include "core/random.hpp"
#include "core/random_normal.hpp"
#include "core/upload.hpp"
#include "core/writable_rows.hpp"
#include "simulate/sky_params.hpp"

namespace kastor::detail {

struct TapList {
  const double* tap;
  std::int64_t count;
};

struct BellDeviate {
  KOKKOS_FUNCTION double operator()(std::uint64_t seed, std::uint64_t counter) const {
    return core::random_bell(seed, counter);
  }
};

struct NormalDeviate {
  KOKKOS_FUNCTION double operator()(std::uint64_t seed, std::uint64_t counter) const {
    return core::random_normal(seed, counter);
  }
};

/// Rows that are smoothed at a time.
inline constexpr std::int64_t noise_rows_at_once = 256;

/// White noise smoothed along x; rows may lie beyond the image.
template <class Deviate>
struct SmoothNoiseAlongX {
  std::uint64_t seed;
  std::int64_t first_row;
  std::int64_t nx;
  TapList taps;
  double* smoothed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = first_row + i / nx;
    const auto at = static_cast<std::uint64_t>(row * (nx + taps.count) + i % nx);
    double sum = 0;
    for (std::int64_t k = 0; k < taps.count; ++k)
      sum += taps.tap[k] * Deviate()(seed, at + static_cast<std::uint64_t>(k));
    smoothed[i] = sum;
  }
};

template <class T>
struct SmoothNoiseAlongY {
  TapList taps;
  const double* smoothed;
  core::WritableRows<T> rows;  ///< rows of this band

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    double sum = 0;
    for (std::int64_t k = 0; k < taps.count; ++k) sum += taps.tap[k] * smoothed[i + k * rows.nx];
    rows.data[i / rows.nx * rows.pitch + i % rows.nx] = static_cast<T>(sum);
  }
};

/// Taps of the Gaussian that gives white noise its correlation.
struct NoiseTaps {
  std::int64_t reach;
  std::vector<double> along_x;
  /// Includes the factor that sets the standard deviation of the noise.
  std::vector<double> along_y;
};

[[nodiscard]] inline NoiseTaps make_noise_taps(const SkyParams& params) {
  const double sigma = params.beam_fwhm / fwhm_per_sigma;
  // Smoothing with exp(-d^2 / sigma^2), which is narrower than the beam by sqrt(2), gives noise
  // with the correlation exp(-d^2 / (2 sigma^2)).
  const bool is_condon = params.noise_kind == NoiseKind::condon;
  const double squared = is_condon ? 0.5 : 1;
  const double reach = is_condon ? 5 : 3.5;
  NoiseTaps taps{static_cast<std::int64_t>(std::ceil(reach * sigma)), {}, {}};
  if (params.noise_kind == NoiseKind::white) taps.reach = 0;
  double squares = 0;
  for (std::int64_t k = -taps.reach; k <= taps.reach; ++k) {
    const double d = static_cast<double>(k) / sigma;
    taps.along_x.push_back(std::exp(-squared * d * d));
    squares += taps.along_x.back() * taps.along_x.back();
  }
  taps.along_y = taps.along_x;
  for (double& t : taps.along_y) t *= params.noise / squares;
  return taps;
}

template <class Deviate, class Exec, class T>
void fill_with_noise_of(const Exec& space, const SkyParams& params, std::int64_t first_row,
                        const core::WritableRows<T>& image) {
  const NoiseTaps taps = make_noise_taps(params);
  const auto along_x = core::upload(space, "kastor::simulate::taps", taps.along_x);
  const auto along_y = core::upload(space, "kastor::simulate::taps", taps.along_y);
  const auto count = static_cast<std::int64_t>(taps.along_x.size());
  const std::int64_t band = std::min(image.ny, noise_rows_at_once);
  const Kokkos::View<double*, typename Exec::memory_space> smoothed(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::simulate::smoothed"),
      static_cast<std::size_t>((band + 2 * taps.reach) * params.nx));
  for (std::int64_t row = 0; row < image.ny; row += band) {
    const std::int64_t rows = std::min(band, image.ny - row);
    core::for_each(
        "kastor::simulate::noise_along_x", space, (rows + 2 * taps.reach) * params.nx,
        SmoothNoiseAlongX<Deviate>{
            params.seed, first_row + row, params.nx, {along_x.data(), count}, smoothed.data()});
    core::for_each(
        "kastor::simulate::noise_along_y", space, rows * params.nx,
        SmoothNoiseAlongY<T>{{along_y.data(), count},
                             smoothed.data(),
                             {image.data + row * image.pitch, rows, image.nx, image.pitch}});
  }
  // The taps and the work space must outlive the kernels.
  space.fence("kastor::simulate::noise");
}

template <class Exec, class T>
void fill_with_noise(const Exec& space, const SkyParams& params, std::int64_t first_row,
                     const core::WritableRows<T>& image) {
  if (params.noise_kind == NoiseKind::bell) {
    fill_with_noise_of<BellDeviate>(space, params, first_row, image);
  } else {
    fill_with_noise_of<NormalDeviate>(space, params, first_row, image);
  }
}

}  // namespace kastor::detail

#endif
