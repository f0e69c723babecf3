// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ISLAND_TABLE_HPP
#define KASTOR_IO_ISLAND_TABLE_HPP

#include <cstdint>
#include <kastor/io/beam.hpp>
#include <kastor/io/table.hpp>
#include <kastor/io/table_params.hpp>
#include <kastor/io/wcs.hpp>
#include <kastor/island.hpp>
#include <kastor/kron_flux.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kastor::io {

/// Bits of the column `flags` in addition to those of `kastor::IslandFlag`.
enum IslandTableFlag : std::uint32_t {
  island_no_sky = 256,     ///< the image has coordinates, but they are not defined here
  island_no_flux = 512,    ///< no flux_int, flux_iso: unit, beam or pixel size is missing
  island_no_total = 1024,  ///< no flux_int: the flux below the threshold is not known
  /// More than a tenth of the Kron aperture is blank or of other islands.
  island_auto_crowded = 4096,
  /// The image ends within the Kron aperture.
  island_auto_at_edge = 8192,
};

/// What is known about the image, and about its noise.
struct IslandTableParams : TableParams {
  /// Noise in which the islands were found, after a filter, that of the image being 1; 0: not
  /// known. Unless it is 1, `flux_int` comes from the number of pixels, not from the threshold.
  double filtered_noise = 1;
  /// Area of the noise's autocorrelation [beam area]: 1 for an image from a telescope's restoring
  /// beam, 2 for white noise smoothed with the beam.  [> 0]
  double noise_beams = 1;
  double noise_pixels = 0;  ///< the same [pixel]; used instead if > 0, and not below 1
  /// Kron fluxes of the islands, one for each, in the same order; empty: no columns for them.
  std::span<const KronFlux> kron;
  /// For the photon noise of the sources in the errors [electron / image unit]; 0: none
  double gain = 0;
  /// Relative weights at the islands, one for each: the gain there is `gain` times that. Empty: 1.
  std::span<const double> weights;
  std::optional<double> zero_point;  ///< magnitude of a Kron flux of 1 [mag]; none: no magnitudes
};

/// Area of a beam at the reference pixel [pixel]; NaN if that pixel has no position on the sky.
[[nodiscard]] double beam_area_in_pixels(const Beam& beam, const Wcs& wcs);

/// A table of islands, and notes about it.
struct IslandTable {
  Table table;                     ///< the table; its cards hold the beam
  std::vector<std::string> notes;  ///< what a user should know: one sentence each
};

/// The published columns of islands, one row per island, in the given order. docs/catalogue.md
/// lists them with units, UCDs, formulas and sources. Columns on the sky exist if `wcs` is given; a
/// value that does not exist is NaN (and `flags` says why).
///
/// Fluxes per beam are converted to Jy with the beam's area in pixels. In orthographic (SIN, NCP)
/// images this is the area at the reference pixel, because the restoring beam is the same in pixels
/// everywhere; in all others it is the area at the local pixel.
/// \throws kastor::Error if a parameter is out of its range
[[nodiscard]] IslandTable island_table(const Islands& islands, const IslandTableParams& params);

}  // namespace kastor::io

#endif
