// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_PARAMS_HPP
#define KASTOR_IO_TABLE_PARAMS_HPP

#include <cstdint>
#include <kastor/io/beam.hpp>
#include <kastor/io/wcs.hpp>
#include <string>

namespace kastor::io {

/// What is known about the image of a table of islands or components.
struct TableParams {
  const Wcs* wcs = nullptr;  ///< null: only columns in pixels
  BeamReading beam;          ///< from `read_beam()` or `parse_beam()`
  std::string unit;          ///< BUNIT of the image; may be empty
  double frequency = 0;      ///< of the image [Hz]; 0: not known, then there is no column freq
  std::int64_t nx = 0;       ///< columns of the image [pixel]; 0: not known
  std::int64_t ny = 0;       ///< rows of the image [pixel]; 0: not known
  double flood_snr = 0;      ///< threshold of the islands' pixels [local rms]; 0: not known
  double flood_level = 0;    ///< the same [image unit above the background]; used instead if > 0
  /// Whether fluxes are sums of pixels, in the unit of the image, if that is not a flux density.
  bool sums_of_pixels = false;
  /// Put before island_name and component_name: "KASTOR" gives "KASTOR J...."; may be empty
  std::string name_prefix;
};

}  // namespace kastor::io

#endif
