// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_HPP
#define KASTOR_SIMULATE_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <limits>
#include <vector>

namespace kastor {

/// How the noise of neighbouring pixels is related. But for `bell`, pixels are normally distributed
/// far into the tails.
enum class NoiseKind {
  bell,    ///< as `beam`, but of sums of four uniform numbers: fast, and rarely beyond 4 sigma
  beam,    ///< autocorrelation is the beam, as in an image of an interferometer
  condon,  ///< white noise convolved with the beam (Condon, PASP 109, 166, 1997); the
           ///< autocorrelation is wider than the beam by sqrt(2)
  white    ///< independent pixels
};

/// A Gaussian primary beam around the middle of the image.
struct PrimaryBeam {
  double fwhm = 0;         ///< [pixel]  [0: no primary beam, or at least 2, finite]
  bool corrected = false;  ///< divided out: true fluxes, and noise that rises outwards
};

/// A detector that counts photons. Pixels are Poisson counts over the gain.
struct Detector {
  double gain = 0;        ///< counts per unit of the image  [0: no detector; finite]
  double read_noise = 0;  ///< standard deviation [count]  [>= 0, finite]
};

/// Pixels without data.
struct Unobserved {
  enum class Where { nowhere, outside_circle, border, half };
  Where where = Where::nowhere;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< what these pixels hold
};

/// Parameters of a simulated field. The default is a radio field similar to the GMRT images of the
/// Galactic Centre: noise correlated over the beam, and Gaussian sources whose fluxes follow a
/// power law, some of them extended.
struct SkyParams {
  std::int64_t ny = 2048;  ///< rows [1, 2^31) [pixel]
  std::int64_t nx = 2048;  ///< columns [1, 2^31) [pixel]
  std::uint64_t seed = 42;
  double noise = 0.0133;           ///< standard deviation of the noise [Jy/beam]  [>= 0, finite]
  double beam_fwhm = 5.0;          ///< full width at half maximum of the beam [pixel]  [1, 32]
  double sources_per_mpx = 60.0;   ///< number of sources per 10^6 pixels  [0, 10^6]
  double extended_fraction = 0.1;  ///< fraction of sources wider than the beam  [0, 1]

  NoiseKind noise_kind = NoiseKind::bell;
  double noise_gradient = 0;  ///< g: the noise rises from 1 - g of it at the left edge to 1 + g at
                              ///< the right one  [0, 1)
  double level = 0;           ///< of the sky in the middle of the image [Jy/beam]  [finite]
  double level_gradient_x = 0;  ///< its rise to the right [Jy/beam per pixel]  [finite]
  double level_gradient_y = 0;  ///< its rise upwards [Jy/beam per pixel]  [finite]
  PrimaryBeam primary_beam;
  /// Negative bowls that an interferometer leaves around sources wider than two beams: each loses
  /// this fraction of its flux in a Gaussian of `bowl_fwhm`  [0, 1]
  double bowl_fraction = 0;
  double bowl_fwhm = 100;  ///< [pixel]  [2, 10^5]
  /// With a detector the noise is that of the counts, the level is 0 or more everywhere, `noise`
  /// and its kind are not used, and fluxes are sums of pixels instead of Jy.
  Detector detector;
  Unobserved unobserved;
};

/// The brightness of a source around its centre.
enum class SourceShape {
  gaussian,  ///< elliptical
  disk,      ///< uniform, convolved with the beam
  ring,      ///< as wide as a fifth of its radius, convolved with the beam
  lobes,     ///< two equal Gaussians on the major axis, 0.6 of the size apart, of 0.3 of it each
  moffat     ///< (1 + r^2 / a^2)^-3.5, as a star seen through the atmosphere
};

/// One source of a simulated sky, as it is in the image: behind the primary beam, convolved with
/// the beam.
struct TrueSource {
  double x;  ///< centre [pixel], 0-based
  double y;
  double flux_peak;  ///< largest brightness of the profile [Jy/beam]
  double flux_int;   ///< [Jy]; with a detector the sum over all pixels
  double fwhm;       ///< along the major axis [pixel]: FWHM of a gaussian and a moffat, diameter of
                     ///< a disk and a ring, extent of two lobes
  double minor = 0;  ///< along the minor axis [pixel]; 0: as `fwhm`
  double angle = 0;  ///< of the major axis, from +x to +y [deg]
  SourceShape shape = SourceShape::gaussian;
  /// Standard deviation of the noise at the centre [Jy/beam]; with a detector that of the sky and
  /// the read-out, without the photons of the source.
  double rms = 0;
  double snr = 0;          ///< flux_peak over rms; with a detector that of a matched filter
  std::int64_t group = 0;  ///< the same for the two of a pair, from 1; 0: alone
};

/// The sources of a simulated sky, sorted by y, then x. Runs on the host. For one seed and shape
/// the result is the same on every machine, up to the last bits of the maths library.
/// \throws Error if a parameter is out of range.
[[nodiscard]] std::vector<TrueSource> sky_truth(const SkyParams& params);

/// Sources of one kind, to be added to a sky.
struct Population {
  SourceShape shape = SourceShape::gaussian;
  std::int64_t count = 0;  ///< of sources or pairs  [0, 10^8]
  double snr_min = 10;     ///< true S/N, uniform in its logarithm  [> 0, finite]
  double snr_max = 50;     ///< [>= snr_min, finite]
  /// Major axis, as `TrueSource::fwhm` [pixel], uniform  [0.1, 10^5; both 0: the beam]
  double size_min = 0;
  double size_max = 0;         ///< [pixel]  [>= size_min]
  double axis_ratio = 1;       ///< minor over major axis, of gaussians  (0, 1]
  double pair_separation = 0;  ///< distance of the two of a pair [pixel]  [0: no pairs]
  double pair_ratio = 1;       ///< flux of the fainter over that of the brighter  (0, 1]
  bool on_grid = false;        ///< one in each cell of a grid, at least half a cell from the others
};

/// The sources of populations, behind the primary beam and with the noise that `params` says, in
/// the order of the populations. Only `params.seed` and their place in the list decide, so that one
/// more population leaves the others as they are. \throws Error if a parameter is out of range.
[[nodiscard]] std::vector<TrueSource> population_truth(const SkyParams& params,
                                                       const std::vector<Population>& populations);

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

/// Fills `image` with some rows of that sky: its row y is row `first_row + y` of the sky, and has
/// the bits that `simulate_sky()` gives it. For skies larger than memory; see `sky_work_bytes()`.
/// \param truth  all sources of the sky, or at least all that reach the rows, in the same order
/// \param first_row  [0, params.ny]  \param image  at most params.ny - first_row rows, params.nx
/// columns
/// \throws Error if a parameter is out of range or the shape differs.
template <class Exec, Real T>
void simulate_sky_rows(const Exec& space, const SkyParams& params,
                       const std::vector<TrueSource>& truth, std::int64_t first_row,
                       const Image<T, Exec>& image);
/// The same for any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_sky_rows(const Exec& space, const SkyParams& params,
                           const std::vector<TrueSource>& truth, std::int64_t first_row,
                           const V& image) {
  simulate_sky_rows<Exec, PixelOf<Exec, V>>(space, params, truth, first_row,
                                            as_mutable_image<Exec>(image));
}

/// Memory that `simulate_sky_rows()` takes for so many rows, besides the image and the truth
/// [byte], at most: noise, and the profiles of the sources that cross the rows, if these are spread
/// evenly over the sky. \throws Error if a parameter is out of range.
[[nodiscard]] std::int64_t sky_work_bytes(const SkyParams& params,
                                          const std::vector<TrueSource>& truth, std::int64_t rows);

/// Sets every pixel whose x and y are both `spacing / 2` modulo `spacing` to 1, and all others
/// to 0. Enqueues only. \param first_row  the y of the first row of `image`, which may be a part
/// of a larger one [>= 0] \throws Error if spacing < 1 or first_row < 0.
template <class Exec, Real T>
void simulate_diracs(const Exec& space, std::int64_t spacing, const Image<T, Exec>& image,
                     std::int64_t first_row = 0);

/// The same for any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, Image<PixelOf<Exec, V>, Exec>>)  //
    void simulate_diracs(const Exec& space, std::int64_t spacing, const V& image,
                         std::int64_t first_row = 0) {
  simulate_diracs<Exec, PixelOf<Exec, V>>(space, spacing, as_mutable_image<Exec>(image), first_row);
}

}  // namespace kastor

#endif
