// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FREQUENCY_HPP
#define KASTOR_IO_FREQUENCY_HPP

#include <kastor/io/fits_image.hpp>
#include <optional>
#include <string>

namespace kastor::io {

/// The frequency of an image.
struct FrequencyReading {
  std::optional<double> hertz;  ///< [Hz], above 0; none if the header does not give one
  std::string note;             ///< why an axis FREQ gives no frequency; empty if there is none
};

/// The frequency on the axis with CTYPEi = 'FREQ' that is not an axis of the image: at the plane
/// that was read, or at pixel 1 of an axis of length 1 (FITS standard 4.0, section 8.1). It is in
/// the frame of the header (SPECSYS). RESTFRQ and other keywords are not the frequency of the
/// image.
[[nodiscard]] FrequencyReading read_frequency(const FitsImage& image);

}  // namespace kastor::io

#endif
