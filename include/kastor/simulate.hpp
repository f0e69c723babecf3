// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_HPP
#define KASTOR_SIMULATE_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <vector>

namespace kastor {

/// Parameters of a simulated radio field, similar to the GMRT images of the Galactic Centre: noise
/// correlated over the beam, and Gaussian sources whose fluxes follow a power law, some of them
/// extended.
struct SkyParams {
  std::int64_t ny = 2048;  ///< rows [1, 2^31) [pixel]
  std::int64_t nx = 2048;  ///< columns [1, 2^31) [pixel]
  std::uint64_t seed = 42;
  double noise = 0.0133;           ///< standard deviation of the noise [Jy/beam]  [>= 0, finite]
  double beam_fwhm = 5.0;          ///< full width at half maximum of the beam [pixel]  [1, 32]
  double sources_per_mpx = 60.0;   ///< number of sources per 10^6 pixels  [0, 10^6]
  double extended_fraction = 0.1;  ///< fraction of sources wider than the beam  [0, 1]
};

/// One source of a simulated sky: a circular Gaussian.
struct TrueSource {
  double x;  ///< centre [pixel], 0-based
  double y;
  double flux_peak;  ///< [Jy/beam]
  double flux_int;   ///< [Jy]
  double fwhm;       ///< [pixel]
};

/// The sources of a simulated sky, sorted by y, then x. Runs on the host. For one seed and shape
/// the result is the same on every machine, up to the last bits of the maths library.
/// \throws Error if a parameter is out of range.
[[nodiscard]] std::vector<TrueSource> sky_truth(const SkyParams& params);

/// Fills `image` (ny, nx) with the sky [Jy/beam] of these sources. The same bits on every backend.
/// Fences `space`. \throws Error if a parameter is out of range or the shape differs.
template <class Exec, Real T>
void simulate_sky(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                  const Image<T, Exec>& image);

/// The same for any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_sky(const Exec& space, const SkyParams& params,
                      const std::vector<TrueSource>& truth, const V& image) {
  simulate_sky<Exec, PixelOf<Exec, V>>(space, params, truth, as_mutable_image<Exec>(image));
}

/// Sets every pixel whose x and y are both `spacing / 2` modulo `spacing` to 1, and all others
/// to 0. Enqueues only. \throws Error if spacing < 1.
template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image);

/// The same for any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_diracs(const Exec& space, std::int64_t spacing, const V& image) {
  simulate_diracs<Exec, PixelOf<Exec, V>>(space, spacing, as_mutable_image<Exec>(image));
}

}  // namespace kastor

#endif
