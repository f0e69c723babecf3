// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_THRESHOLD_HPP
#define KASTOR_THRESHOLD_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// An image of bits: pixel (y, x) is bit `x % 64` of `words(y, x / 64)`. Bits beyond the width
/// are 0.
template <class Exec>
struct BitMask {
  std::int64_t ny = 0;  ///< rows [pixel]
  std::int64_t nx = 0;  ///< columns [pixel]
  /// (ny, ceil(nx / 64))
  Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, typename Exec::memory_space> words;

  /// Number of words in a row: ceil(nx / 64).
  [[nodiscard]] std::int64_t words_per_row() const { return (nx + 63) / 64; }
};

/// Allocates a mask of this shape; the words are not initialised. \throws Error if an extent is
/// negative.
template <class Exec>
[[nodiscard]] BitMask<Exec> make_bit_mask(const Exec& space, std::int64_t ny, std::int64_t nx);

/// Sets the bits of the finite pixels strictly greater than `level` [image unit] and clears the
/// others. Row 0 of the image is row `first_row` of the mask. Enqueues only. \throws Error if the
/// image does not fit the mask or `level` is NaN.
template <class Exec, Real T>
void threshold_into(const Exec& space, const ConstImage<T, Exec>& image, double level,
                    const BitMask<Exec>& mask, std::int64_t first_row = 0);

/// The same for any View that keeps the layout contract.
template <class Exec, AnyView V>
requires(!std::same_as<V, ConstImage<PixelOf<Exec, V>, Exec>>)  //
    void threshold_into(const Exec& space, const V& image, double level, const BitMask<Exec>& mask,
                        std::int64_t first_row = 0) {
  threshold_into<Exec, PixelOf<Exec, V>>(space, as_const_image<Exec>(image), level, mask,
                                         first_row);
}

/// The mask of the finite pixels strictly greater than `level` [image unit]. \throws Error if
/// `level` is NaN.
template <class Exec, class V>
[[nodiscard]] BitMask<Exec> threshold(const Exec& space, const V& image, double level) {
  const auto canonical = as_const_image<Exec>(image);
  auto mask = make_bit_mask(space, static_cast<std::int64_t>(canonical.extent(0)),
                            static_cast<std::int64_t>(canonical.extent(1)));
  threshold_into<Exec, PixelOf<Exec, V>>(space, canonical, level, mask);
  return mask;
}

/// Number of set bits. Fences `space`.
template <class Exec>
[[nodiscard]] std::int64_t count_foreground(const Exec& space, const BitMask<Exec>& mask);

}  // namespace kastor

#endif
