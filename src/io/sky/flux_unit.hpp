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
  std::string pixel;       ///< as the FITS standard spells it ("Jy/beam"); as typed if unknown
  std::string integrated;  ///< "Jy", "mJy"; empty if unknown
  double scale = 1.0;      ///< unit of the image / `pixel`; not 1 where no SI prefix says the same
  double factor = 1.0;     ///< unit of the image / (`integrated` / `per`)
};

/// The meaning of BUNIT: a multiple of Jy per beam, pixel or solid angle, in any of the spellings
/// that `parse_unit()` understands (JY/BEAM, beam-1 Jy, mJy/bm, MicroJansky per beam, 1e-3 Jy/beam,
/// MJy/sr). Upper and lower case distinguish mega and milli, so MJY/BEAM, which may be either, is
/// unknown; MJY/SR is always mega.
[[nodiscard]] FluxUnit flux_unit(std::string_view bunit);

}  // namespace kastor::io::detail

#endif
