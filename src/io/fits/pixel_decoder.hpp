// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_PIXEL_DECODER_HPP
#define KASTOR_SRC_IO_FITS_PIXEL_DECODER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "io/fits/byte_order.hpp"

namespace kastor::io::detail {

/// Converts stored values to physical ones (FITS standard 4.0, 4.4.2.5).
struct Scaling {
  double bscale = 1.0;
  double bzero = 0.0;
  std::optional<long long> blank;  // for integer images

  [[nodiscard]] bool is_identity() const { return bscale == 1.0 && bzero == 0.0; }
};

/// Decodes `count` stored integers. The arithmetic is in double and rounded once to `Out`.
template <std::integral Raw, std::floating_point Out>
[[gnu::always_inline]] inline void decode(const std::byte* bytes, std::size_t count,
                                          const Scaling& scaling, Out* out) {
  // Unsigned 64-bit images: adding 2^63 in double would round twice.
  if constexpr (sizeof(Raw) == 8) {
    if (scaling.bscale == 1.0 && scaling.bzero == 0x1p63) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto flipped =
            load_big_endian<std::uint64_t>(bytes + sizeof(Raw) * i) ^ (std::uint64_t{1} << 63);
        out[i] = static_cast<Out>(flipped);
      }
    }
  }
  const bool exact_unsigned = sizeof(Raw) == 8 && scaling.bscale == 1.0 && scaling.bzero == 0x1p63;
  if (!exact_unsigned) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = static_cast<double>(load_big_endian<Raw>(bytes + sizeof(Raw) * i));
      out[i] = static_cast<Out>(value * scaling.bscale + scaling.bzero);
    }
  }
  if (!scaling.blank) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (static_cast<long long>(load_big_endian<Raw>(bytes + sizeof(Raw) * i)) == *scaling.blank) {
      out[i] = std::numeric_limits<Out>::quiet_NaN();
    }
  }
}

/// Scales floats in place.
template <std::floating_point Out>
[[gnu::always_inline]] inline void scale_floats(std::size_t count, const Scaling& scaling,
                                                Out* out) {
  // Skip the identity: x * 1 + 0 would turn -0 into +0.
  if (scaling.is_identity()) return;
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = static_cast<Out>(static_cast<double>(out[i]) * scaling.bscale + scaling.bzero);
  }
}

}  // namespace kastor::io::detail

#endif
