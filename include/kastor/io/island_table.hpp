// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ISLAND_TABLE_HPP
#define KASTOR_IO_ISLAND_TABLE_HPP

#include <cstdint>
#include <kastor/io/beam.hpp>
#include <kastor/io/table.hpp>
#include <kastor/io/wcs.hpp>
#include <kastor/island.hpp>
#include <string>
#include <vector>

namespace kastor::io {

/// Bits of the column `flags` besides those of `kastor::IslandFlag`.
enum IslandTableFlag : std::uint32_t {
  island_no_sky = 256,     ///< the image has coordinates, but not here
  island_no_flux = 512,    ///< flux_int cannot be given: unit, beam or pixel size not known
  island_no_total = 1024,  ///< nothing can be said of what is below the threshold
};

/// What the image says of its pixels.
struct IslandTableParams {
  const Wcs* wcs = nullptr;  ///< none: only columns in pixels
  BeamReading beam;          ///< as `read_beam()` or `parse_beam()` gives it
  std::string unit;          ///< BUNIT of the image; may be empty
  double flood_snr = 0;      ///< threshold of the islands' pixels [local rms]; 0: not known
  double flood_level = 0;    ///< the same [image unit above the background]; > 0: instead
  /// Area of the noise's autocorrelation [beam area]: 1 for an image as a telescope's restoring
  /// beam leaves it, 2 for white noise that was smoothed with the beam.  [> 0]
  double noise_beams = 1;
  std::string name_prefix;  ///< before island_name: "KASTOR" gives "KASTOR J...."; may be empty
};

/// Area of a beam at the reference pixel [pixel]; NaN if that has no place on the sky.
[[nodiscard]] double beam_area_in_pixels(const Beam& beam, const Wcs& wcs);

/// A table of islands, and notes on it.
struct IslandTable {
  Table table;                     ///< its cards: the beam
  std::vector<std::string> notes;  ///< what a user should know: one sentence each
};

/// The columns that are published of islands, one row an island, in their order:
/// docs/catalogue.md lists them with units, UCDs, formulas and their sources. Columns on the sky
/// are there if `wcs` is; a value that does not exist is NaN (and `flags` says why).
///
/// Fluxes per beam become Jy by the beam's area in pixels: that at the reference pixel in
/// orthographic (SIN, NCP) images, whose restoring beam is the same in pixels everywhere, that of
/// the local pixel in all others.
/// \throws kastor::Error if a parameter is out of its range
[[nodiscard]] IslandTable island_table(const Islands& islands, const IslandTableParams& params);

}  // namespace kastor::io

#endif
