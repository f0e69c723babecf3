// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ON_THE_SKY_HPP
#define KASTOR_APPS_FIND_ON_THE_SKY_HPP

#include <kastor/gaussian.hpp>
#include <kastor/io/beam.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/wcs.hpp>
#include <optional>
#include <string>
#include <vector>

#include "find/find_options.hpp"

namespace kastor::cli {

/// The beam and the world coordinates in the header.
struct OnTheSky {
  io::BeamReading beam;
  std::optional<io::Wcs> wcs;
  std::string why_no_wcs;
  std::optional<PixelEllipse> pixel_beam;  ///< the beam at the middle of the image
  std::optional<double> frequency;         ///< of the image [Hz]
  std::vector<std::string> notes;          ///< on the coordinates, one sentence each
};

/// Area of the beam at the reference pixel [pixel]; NaN if it is not known.
[[nodiscard]] double beam_pixels_of(const OnTheSky& sky);

/// Reads the header, and sets the size of a cell and the smallest size of an island in `options`.
/// \throws Error
[[nodiscard]] OnTheSky look_at_header(const io::FitsImage& image, FindOptions& options);

}  // namespace kastor::cli

#endif
