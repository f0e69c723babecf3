// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_TILES_QUANTIZE_HPP
#define KASTOR_SRC_IO_FITS_TILES_QUANTIZE_HPP

#include <cstdint>
#include <optional>
#include <span>

namespace kastor::io::detail {

/// How floating-point values were made integers (ZQUANTIZ).
enum class Dither {
  none,           ///< NO_DITHER
  subtractive_1,  ///< SUBTRACTIVE_DITHER_1
  subtractive_2   ///< SUBTRACTIVE_DITHER_2: as 1, but zeros are kept
};

/// What integers of a tile mean.
struct Quantization {
  double scale = 1;  ///< ZSCALE
  double zero = 0;   ///< ZZERO
  Dither dither = Dither::none;
  std::int64_t tile = 1;  ///< the tile's row in the table, from 1
  std::int64_t seed = 1;  ///< ZDITHER0, at least 1; 1 if it is missing
  /// ZBLANK: the integer that stands for NaN.
  std::optional<std::int32_t> blank = std::nullopt;
};

/// Undoes the quantisation of floating-point values (FITS 4.0, 10.2; appendix I for the dither):
/// scale times the integer plus zero in double precision, less the dither. The bits are those of
/// CFITSIO.
///
/// \tparam T  float or double
/// \param out  of the size of `values`
/// \throws kastor::Error  sizes that differ; with dither, a tile or a seed below 1
template <class T>
void undo_quantize(std::span<const std::int32_t> values, const Quantization& quantization,
                   std::span<T> out);

extern template void undo_quantize(std::span<const std::int32_t>, const Quantization&,
                                   std::span<float>);
extern template void undo_quantize(std::span<const std::int32_t>, const Quantization&,
                                   std::span<double>);

}  // namespace kastor::io::detail

#endif
