// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_FLUX_UNIT_HPP
#define KASTOR_SRC_IO_SKY_FLUX_UNIT_HPP

#include <string>
#include <string_view>

namespace kastor::io::detail {

/// How sums of pixels become flux densities.
struct FluxUnit {
  enum class Per { unknown, beam, pixel, arcsec2 };
  Per per = Per::unknown;
  std::string pixel;       ///< as the standards spell it ("Jy/beam"); as it was if unknown
  std::string integrated;  ///< "Jy", "mJy"; empty if unknown
  double factor = 1.0;     ///< unit of a pixel / (`integrated` / `per`)
};

/// What BUNIT means: a multiple of Jy per beam, pixel, steradian or square arcsec, in any of the
/// spellings in use (JY/BEAM, Jy beam-1, mJy/bm, MJy/sr). Capitals tell mega from milli, so that
/// MJY/BEAM, of which nobody knows, is unknown.
[[nodiscard]] FluxUnit flux_unit(std::string_view bunit);

}  // namespace kastor::io::detail

#endif
