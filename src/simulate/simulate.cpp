// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/simulate.hpp>
#include <string>
#include <vector>

#include "core/group.hpp"
#include "core/launch.hpp"
#include "core/random.hpp"
#include "core/upload.hpp"
#include "core/writable_rows.hpp"
#include "simulate/sky_params.hpp"
#include "simulate/stamps.hpp"

namespace kastor::detail {

struct TapList {
  const double* tap;
  std::int64_t count;
};

/// White noise smoothed along x; rows may lie beyond the image.
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
      sum += taps.tap[k] * core::random_bell(seed, at + static_cast<std::uint64_t>(k));
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

/// Adds the sources that cross one row, in the order of their list.
template <class T>
struct AddSources {
  const Stamp* stamps;
  const std::int64_t* first_of_row;
  const std::int64_t* sources_of_row;
  const double* profiles;
  core::WritableRows<T> image;

  KOKKOS_FUNCTION void operator()(std::int64_t y) const {
    T* row = image.data + y * image.pitch;
    for (std::int64_t k = first_of_row[y]; k < first_of_row[y + 1]; ++k) {
      const Stamp& s = stamps[sources_of_row[k]];
      const double height = profiles[s.y_profile + y - s.y_min];
      const double* profile = profiles + s.x_profile;
      for (std::int64_t x = s.x_min; x <= s.x_max; ++x)
        row[x] = static_cast<T>(static_cast<double>(row[x]) + height * profile[x - s.x_min]);
    }
  }
};

/// A group fills pieces of rows: first zeros, then the ones.
template <class Exec, class T>
struct PlaceDiracs {
  static constexpr std::int64_t piece = 4096;
  core::WritableRows<T> image;
  std::int64_t spacing;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pieces_per_row() const {
    return (image.nx + piece - 1) / piece;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pieces() const { return image.ny * pieces_per_row(); }

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    for (std::int64_t i = group.index(); i < pieces(); i += group.count()) {
      const std::int64_t y = i / pieces_per_row();
      const std::int64_t x = i % pieces_per_row() * piece;
      fill(group, y, x, image.nx - x < piece ? image.nx - x : piece);
    }
  }

 private:
  KOKKOS_FUNCTION void fill(const core::Group<Exec>& group, std::int64_t y, std::int64_t x,
                            std::int64_t width) const {
    T* row = image.data + y * image.pitch + x;
    group.for_each(width, [&](std::int64_t j) { row[j] = T{0}; });
    const std::int64_t first = (spacing / 2 + spacing - x % spacing) % spacing;
    if (y % spacing != spacing / 2 || first >= width) return;
    group.barrier();
    group.for_each((width - 1 - first) / spacing + 1,
                   [&](std::int64_t k) { row[first + k * spacing] = T{1}; });
  }
};

/// Taps of the Gaussian that gives white noise the correlation of the beam.
struct NoiseTaps {
  std::int64_t reach;
  std::vector<double> along_x;
  /// Includes the factor that sets the standard deviation of the noise.
  std::vector<double> along_y;
};

[[nodiscard]] inline NoiseTaps make_noise_taps(const SkyParams& params) {
  const double sigma = params.beam_fwhm / fwhm_per_sigma;
  NoiseTaps taps{static_cast<std::int64_t>(std::ceil(3.5 * sigma)), {}, {}};
  // Smoothing with exp(-d^2 / sigma^2), which is narrower than the beam by sqrt(2), gives noise
  // with the correlation exp(-d^2 / (2 sigma^2)).
  double squares = 0;
  for (std::int64_t k = -taps.reach; k <= taps.reach; ++k) {
    const double d = static_cast<double>(k) / sigma;
    taps.along_x.push_back(std::exp(-d * d));
    squares += taps.along_x.back() * taps.along_x.back();
  }
  taps.along_y = taps.along_x;
  for (double& t : taps.along_y) t *= params.noise / squares;
  return taps;
}

template <class Exec, class T>
void fill_with_noise(const Exec& space, const SkyParams& params, const NoiseTaps& taps,
                     const core::WritableRows<T>& image) {
  const auto along_x = core::upload(space, "kastor::simulate::taps", taps.along_x);
  const auto along_y = core::upload(space, "kastor::simulate::taps", taps.along_y);
  const auto count = static_cast<std::int64_t>(taps.along_x.size());
  const std::int64_t band = std::min<std::int64_t>(params.ny, 256);
  const Kokkos::View<double*, typename Exec::memory_space> smoothed(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::simulate::smoothed"),
      static_cast<std::size_t>((band + 2 * taps.reach) * params.nx));
  for (std::int64_t row = 0; row < params.ny; row += band) {
    const std::int64_t rows = std::min(band, params.ny - row);
    core::for_each(
        "kastor::simulate::noise_along_x", space, (rows + 2 * taps.reach) * params.nx,
        SmoothNoiseAlongX{params.seed, row, params.nx, {along_x.data(), count}, smoothed.data()});
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
void add_sources(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                 const core::WritableRows<T>& image) {
  const Stamps host = make_stamps(params, truth);
  const auto stamps = core::upload(space, "kastor::simulate::stamps", host.stamps);
  const auto first_of_row =
      core::upload(space, "kastor::simulate::first_of_row", host.first_of_row);
  const auto sources_of_row =
      core::upload(space, "kastor::simulate::sources_of_row", host.sources_of_row);
  const auto profiles = core::upload(space, "kastor::simulate::profiles", host.profiles);
  core::for_each("kastor::simulate::add_sources", space, image.ny,
                 AddSources<T>{stamps.data(), first_of_row.data(), sources_of_row.data(),
                               profiles.data(), image});
  space.fence("kastor::simulate::sources");
}

}  // namespace kastor::detail

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
  detail::fill_with_noise(space, params, detail::make_noise_taps(params), rows);
  detail::add_sources(space, params, truth, rows);
}

template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image) {
  KASTOR_EXPECTS("kastor::simulate_diracs", spacing >= 1,
                 "the spacing is " + std::to_string(spacing) + "; expected 1 pixel or more");
  const detail::PlaceDiracs<Exec, T> kernel{core::writable_rows_of(image), spacing};
  core::for_each_group<128>("kastor::simulate::place_diracs", space,
                            {std::min<std::int64_t>(kernel.pieces(), 1 << 20), 0}, kernel);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                   \
  template void kastor::simulate_sky<EXEC, T>(const EXEC&, const kastor::SkyParams&,  \
                                              const std::vector<kastor::TrueSource>&, \
                                              const kastor::Image<T, EXEC>&);         \
  template void kastor::simulate_diracs<EXEC, T>(const EXEC&, std::int64_t,           \
                                                 const kastor::Image<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
