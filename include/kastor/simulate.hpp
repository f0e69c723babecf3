// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_HPP
#define KASTOR_SIMULATE_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <vector>

namespace kastor {

/// A radio field like the GMRT's of the Galactic Centre: noise correlated over the beam, and
/// Gaussian sources whose fluxes follow a power law, some of them extended.
struct SkyParams {
  std::int64_t ny = 2048;  ///< [1, 2^31)
  std::int64_t nx = 2048;  ///< [1, 2^31)
  std::uint64_t seed = 42;
  double noise = 0.0133;           ///< standard deviation of the noise [Jy/beam]  [>= 0]
  double beam_fwhm = 5.0;          ///< [pixel]  [1, 32]
  double sources_per_mpx = 60.0;   ///< mean number of sources per 10^6 pixels  [>= 0]
  double extended_fraction = 0.1;  ///< share of sources wider than the beam  [0, 1]
};

/// One source of a simulated sky: a circular Gaussian.
struct TrueSource {
  double x;  ///< centre [pixel], 0-based
  double y;
  double flux_peak;  ///< [Jy/beam]
  double flux_int;   ///< [Jy]
  double fwhm;       ///< [pixel]
};

/// The truth behind a sky, in raster order of the centres. Host only; the same for one seed and
/// shape on every machine up to the last bits of its maths library.
[[nodiscard]] std::vector<TrueSource> sky_truth(const SkyParams& params);

/// Fills `image` (ny, nx) with that sky [Jy/beam]. The same bits on every backend. Fences `space`.
/// \throws Error if a parameter is out of its range or the shape differs.
template <class Exec, Real T>
void simulate_sky(const Exec& space, const SkyParams& params, const std::vector<TrueSource>& truth,
                  const Image<T, Exec>& image);

/// For any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_sky(const Exec& space, const SkyParams& params,
                      const std::vector<TrueSource>& truth, const V& image) {
  simulate_sky<Exec, PixelOf<Exec, V>>(space, params, truth, as_mutable_image<Exec>(image));
}

/// 1 at every pixel whose x and y are both `spacing / 2` modulo `spacing`, 0 elsewhere. Enqueues
/// only. \throws Error if spacing < 1.
template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image);

/// For any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_diracs(const Exec& space, std::int64_t spacing, const V& image) {
  simulate_diracs<Exec, PixelOf<Exec, V>>(space, spacing, as_mutable_image<Exec>(image));
}

}  // namespace kastor

#endif
