// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_DECODE_BAND_HPP
#define KASTOR_SRC_IO_FITS_DECODE_BAND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "io/fits/byte_order.hpp"
#include "io/fits/pixel_decoder.hpp"

namespace kastor::io::detail {

/// Reverses the bytes of a word; devices are little-endian.
template <class Word>
[[nodiscard]] KOKKOS_FUNCTION Word swapped(Word word) {
  if constexpr (sizeof(Word) == 1) return word;
  if constexpr (sizeof(Word) == 2) return static_cast<Word>((word << 8) | (word >> 8));
  if constexpr (sizeof(Word) == 4) {
    return (word << 24) | ((word & 0xff00U) << 8) | ((word >> 8) & 0xff00U) | (word >> 24);
  }
  if constexpr (sizeof(Word) == 8) {
    return static_cast<Word>(swapped(static_cast<std::uint32_t>(word))) << 32 |
           swapped(static_cast<std::uint32_t>(word >> 32));
  }
}

/// `decode()` and the byte swap of floats for devices, one pixel per call: the same arithmetic, so
/// the same bits. Also sums the 32-bit words that begin at `stored`: each pixel adds its bytes.
template <class Raw, class T>
struct DecodeBand {
  using Word = typename UnsignedOfSize<sizeof(Raw)>::type;
  using value_type = std::uint64_t;

  const Word* stored;
  Word* words;  // for floats: the memory of the pixels, which may be `stored`
  T* pixels;    // for integers
  double bscale;
  double bzero;
  bool exact_unsigned;
  bool has_blank;
  long long blank;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    const Word word = swapped(stored[i]);
    if constexpr (sizeof(Word) == 8) {
      sum += (word & 0xffffffffU) + (word >> 32);
    } else {
      constexpr int in_word = 4 / sizeof(Word);
      sum += static_cast<std::uint64_t>(word) << (8 * static_cast<int>(sizeof(Word)) *
                                                  (in_word - 1 - static_cast<int>(i % in_word)));
    }
    if constexpr (std::is_same_v<Raw, T>) {
      words[i] = word;
    } else {
      const Raw raw = static_cast<Raw>(word);
      T value = static_cast<T>(static_cast<double>(raw) * bscale + bzero);
      // Adding 2^63 in double would round twice.
      if constexpr (sizeof(Raw) == 8) {
        if (exact_unsigned) value = static_cast<T>(word ^ (std::uint64_t{1} << 63));
      }
      if (has_blank && static_cast<long long>(raw) == blank)
        value = Kokkos::Experimental::quiet_NaN_v<T>;
      pixels[i] = value;
    }
  }
};

/// \param stored  the bytes in device memory; for floats it may be `pixels`
template <class Raw, class T>
[[nodiscard]] DecodeBand<Raw, T> decode_band(const std::byte* stored, const Scaling& scaling,
                                             T* pixels) {
  using Word = typename DecodeBand<Raw, T>::Word;
  const bool exact_unsigned = scaling.bscale == 1.0 && scaling.bzero == 0x1p63;
  Word* words = nullptr;
  if constexpr (std::is_same_v<Raw, T>) words = reinterpret_cast<Word*>(pixels);
  return {reinterpret_cast<const Word*>(stored),
          words,
          pixels,
          scaling.bscale,
          scaling.bzero,
          exact_unsigned,
          scaling.blank.has_value(),
          scaling.blank.value_or(0)};
}

}  // namespace kastor::io::detail

#endif
