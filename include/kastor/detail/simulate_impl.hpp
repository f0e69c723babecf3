// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIMULATE_IMPL_HPP
#define KASTOR_DETAIL_SIMULATE_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/random.hpp>
#include <kastor/simulate.hpp>
#include <vector>

namespace kastor::detail {

/// \throws Error if a parameter is out of its range.
void check(const char* function, const SkyParams& params);

/// 2 sqrt(2 ln 2)
inline constexpr double fwhm_per_sigma = 2.3548200450309493;

template <class Exec>
using Doubles = Kokkos::View<double*, typename Exec::memory_space>;

template <class Exec, class V>
[[nodiscard]] auto to_device(const Exec& space, const std::string& label,
                             const std::vector<V>& host) {
  Kokkos::View<V*, typename Exec::memory_space> list(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), host.size());
  Kokkos::deep_copy(
      space, list,
      Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          host.data(), host.size()));
  space.fence("kastor::simulate::to_device");
  return list;
}

/// White noise smoothed along x, for rows that reach one kernel radius beyond the band.
template <class Exec>
struct NoiseAlongX {
  std::uint64_t seed;
  std::int64_t first_row;
  std::int64_t nx;
  Doubles<Exec> taps;
  Doubles<Exec> smoothed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int64_t>(taps.extent(0));
    const std::int64_t row = first_row + i / nx;
    const auto at = static_cast<std::uint64_t>(row * (nx + n) + i % nx);
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k)
      sum += taps(k) * random_bell(seed, at + static_cast<std::uint64_t>(k));
    smoothed(i) = sum;
  }
};

template <class Exec, class T>
struct NoiseAlongY {
  std::int64_t first_row;
  std::int64_t nx;
  Doubles<Exec> taps;
  Doubles<Exec> smoothed;
  Image<T, Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int64_t>(taps.extent(0));
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += taps(k) * smoothed(i + k * nx);
    image(first_row + i / nx, i % nx) = static_cast<T>(sum);
  }
};

/// A source's pixels: flux_peak x profile(y) x profile(x) over a box.
struct Stamp {
  std::int64_t x_min, x_max, y_min;
  std::int64_t x_profile, y_profile;  ///< where its profiles begin in the table
};

template <class Exec, class T>
struct AddSources {
  Kokkos::View<Stamp*, typename Exec::memory_space> stamps;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> first_of_row;
  Kokkos::View<std::int64_t*, typename Exec::memory_space> sources_of_row;
  Doubles<Exec> profiles;
  Image<T, Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t y) const {
    for (std::int64_t k = first_of_row(y); k < first_of_row(y + 1); ++k) {
      const Stamp& s = stamps(sources_of_row(k));
      const double height = profiles(s.y_profile + y - s.y_min);
      for (std::int64_t x = s.x_min; x <= s.x_max; ++x) {
        image(y, x) = static_cast<T>(static_cast<double>(image(y, x)) +
                                     height * profiles(s.x_profile + x - s.x_min));
      }
    }
  }
};

/// One pixel a thread, for devices.
template <class Exec, class T>
struct PlaceDiracs {
  std::int64_t spacing;
  std::int64_t nx;
  Image<T, Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / nx;
    const std::int64_t x = i % nx;
    image(y, x) = y % spacing == spacing / 2 && x % spacing == spacing / 2 ? T{1} : T{0};
  }
};

/// One row at a time, for hosts: a division a pixel costs them more than the memory does.
template <class Exec, class T>
struct PlaceDiracsOfRow {
  std::int64_t spacing;
  std::int64_t nx;
  Image<T, Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t y) const {
    T* row = &image(y, 0);
    for (std::int64_t x = 0; x < nx; ++x) row[x] = T{0};
    if (y % spacing != spacing / 2) return;
    for (std::int64_t x = spacing / 2; x < nx; x += spacing) row[x] = T{1};
  }
};

/// Stamps of the true sources, and which of them cross each row (in the order of the truth).
struct Stamps {
  std::vector<Stamp> stamps;
  std::vector<double> profiles;
  std::vector<std::int64_t> first_of_row;
  std::vector<std::int64_t> sources_of_row;

  Stamps(const SkyParams& params, const std::vector<TrueSource>& truth)
      : first_of_row(static_cast<std::size_t>(params.ny) + 1, 0) {
    const auto profile = [&](double centre, std::int64_t first, std::int64_t last, double sigma,
                             double height) {
      const auto at = static_cast<std::int64_t>(profiles.size());
      for (std::int64_t i = first; i <= last; ++i) {
        const double d = (static_cast<double>(i) - centre) / sigma;
        profiles.push_back(height * std::exp(-0.5 * d * d));
      }
      return at;
    };
    std::vector<std::int64_t> y_max;
    for (const TrueSource& source : truth) {
      const double sigma = source.fwhm / fwhm_per_sigma;
      const auto reach = static_cast<std::int64_t>(std::ceil(6 * sigma));
      const auto x = static_cast<std::int64_t>(std::floor(source.x));
      const auto y = static_cast<std::int64_t>(std::floor(source.y));
      Stamp s{};
      s.x_min = std::max<std::int64_t>(0, x - reach);
      s.x_max = std::min(params.nx - 1, x + reach);
      s.y_min = std::max<std::int64_t>(0, y - reach);
      y_max.push_back(std::min(params.ny - 1, y + reach));
      s.x_profile = profile(source.x, s.x_min, s.x_max, sigma, 1.0);
      s.y_profile = profile(source.y, s.y_min, y_max.back(), sigma, source.flux_peak);
      for (std::int64_t row = s.y_min; row <= y_max.back(); ++row)
        ++first_of_row[static_cast<std::size_t>(row) + 1];
      stamps.push_back(s);
    }
    for (std::size_t row = 1; row < first_of_row.size(); ++row)
      first_of_row[row] += first_of_row[row - 1];
    sources_of_row.resize(static_cast<std::size_t>(first_of_row.back()));
    std::vector<std::int64_t> next = first_of_row;
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      for (std::int64_t row = stamps[i].y_min; row <= y_max[i]; ++row) {
        sources_of_row[static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++)] =
            static_cast<std::int64_t>(i);
      }
    }
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
void simulate_sky(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                  const Image<T, Exec>& image) {
  const Kokkos::Profiling::ScopedRegion region("kastor::simulate_sky");
  detail::check("kastor::simulate_sky", params);
  KASTOR_EXPECTS("kastor::simulate_sky",
                 static_cast<std::int64_t>(image.extent(0)) == params.ny &&
                     static_cast<std::int64_t>(image.extent(1)) == params.nx,
                 "the image is " + std::to_string(image.extent(0)) + " x " +
                     std::to_string(image.extent(1)) + " pixels; expected " +
                     std::to_string(params.ny) + " x " + std::to_string(params.nx));
  using Policy = detail::IndexRange<Exec>;
  const double sigma = params.beam_fwhm / detail::fwhm_per_sigma;
  const auto reach = static_cast<std::int64_t>(std::ceil(3.5 * sigma));
  // White noise smoothed by a beam of width sigma has the beam's correlation if the kernel is
  // narrower by sqrt(2).
  std::vector<double> taps;
  double squares = 0;
  for (std::int64_t k = -reach; k <= reach; ++k) {
    const double d = static_cast<double>(k) / sigma;
    taps.push_back(std::exp(-d * d));
    squares += taps.back() * taps.back();
  }
  std::vector<double> scaled = taps;
  for (double& t : scaled) t *= params.noise / squares;

  const auto along_x = detail::to_device(space, "kastor::simulate::taps", taps);
  const auto along_y = detail::to_device(space, "kastor::simulate::taps", scaled);
  const std::int64_t band = std::min<std::int64_t>(params.ny, 256);
  const detail::Doubles<Exec> smoothed(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::simulate::smoothed"),
      static_cast<std::size_t>((band + 2 * reach) * params.nx));
  for (std::int64_t row = 0; row < params.ny; row += band) {
    const std::int64_t rows = std::min(band, params.ny - row);
    Kokkos::parallel_for("kastor::simulate::noise_along_x",
                         Policy(space, 0, (rows + 2 * reach) * params.nx),
                         detail::NoiseAlongX<Exec>{params.seed, row, params.nx, along_x, smoothed});
    Kokkos::parallel_for("kastor::simulate::noise_along_y", Policy(space, 0, rows * params.nx),
                         detail::NoiseAlongY<Exec, T>{row, params.nx, along_y, smoothed, image});
  }
  const detail::Stamps stamps(params, truth);
  Kokkos::parallel_for(
      "kastor::simulate::add_sources", Policy(space, 0, params.ny),
      detail::AddSources<Exec, T>{
          detail::to_device(space, "kastor::simulate::stamps", stamps.stamps),
          detail::to_device(space, "kastor::simulate::first_of_row", stamps.first_of_row),
          detail::to_device(space, "kastor::simulate::sources_of_row", stamps.sources_of_row),
          detail::to_device(space, "kastor::simulate::profiles", stamps.profiles), image});
  space.fence("kastor::simulate_sky");
}

template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image) {
  KASTOR_EXPECTS("kastor::simulate_diracs", spacing >= 1,
                 "the spacing is " + std::to_string(spacing) + "; expected 1 pixel or more");
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  using Policy = detail::IndexRange<Exec>;
  if constexpr (is_host_space_v<Exec>) {
    Kokkos::parallel_for("kastor::simulate::place_diracs", Policy(space, 0, nx > 0 ? ny : 0),
                         detail::PlaceDiracsOfRow<Exec, T>{spacing, nx, image});
  } else {
    Kokkos::parallel_for("kastor::simulate::place_diracs", Policy(space, 0, ny * nx),
                         detail::PlaceDiracs<Exec, T>{spacing, nx, image});
  }
}

}  // namespace kastor

#endif
