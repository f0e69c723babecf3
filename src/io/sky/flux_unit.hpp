// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_FLUX_UNIT_HPP
#define KASTOR_SRC_IO_SKY_FLUX_UNIT_HPP

#include <string>
#include <string_view>

namespace kastor::io::detail {

/// How sums of pixels are converted to flux densities.
struct FluxUnit {
  enum class Per { unknown, beam, pixel, arcsec2 };
  Per per = Per::unknown;
  std::string pixel;       ///< in standard spelling ("Jy/beam"); unchanged if unknown
  std::string integrated;  ///< "Jy", "mJy"; empty if unknown
  double factor = 1.0;     ///< unit of a pixel / (`integrated` / `per`)
};

/// The meaning of BUNIT: a multiple of Jy per beam, pixel, steradian or square arcsec, in any of
/// the spellings in use (JY/BEAM, Jy beam-1, mJy/bm, MJy/sr). Upper and lower case distinguish mega
/// and milli, so MJY/BEAM, which may be either, is unknown.
[[nodiscard]] FluxUnit flux_unit(std::string_view bunit);

}  // namespace kastor::io::detail

#endif
