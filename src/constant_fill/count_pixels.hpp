// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONSTANT_FILL_COUNT_PIXELS_HPP
#define KASTOR_CONSTANT_FILL_COUNT_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
#include "core/interval.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"

namespace kastor::detail {

/// The bits of the pixels from `low` to `high`, both included.
template <class Exec, class T>
[[nodiscard]] KOKKOS_FUNCTION std::uint64_t bits_from_to(const T* pixels, std::int64_t n, T low,
                                                         T high) {
  std::uint64_t bits = 0;
  core::for_each_pack<core::pack_width_v<Exec>>(pixels, n, [&](const auto& pack, int j) {
    bits |= core::bits_where(pack, [&](T x) { return (x >= low) & (x <= high); }) << j;
  });
  return bits;
}

/// What all pixels of an image say of a constant. A pair is two finite pixels above each other, or
/// beside each other in one word of 64; it is mixed if one of them has the constant.
template <class T>
struct PixelCount {
  core::MinMaxCount<T> inside;
  std::int64_t finite = 0;
  std::int64_t pairs = 0;
  std::int64_t mixed = 0;
  std::int64_t steps = 0;  ///< mixed pairs whose other pixel has one of the next levels

  KOKKOS_FUNCTION PixelCount& operator+=(const PixelCount& other) {
    inside += other.inside;
    finite += other.finite;
    pairs += other.pairs;
    mixed += other.mixed;
    steps += other.steps;
    return *this;
  }
};

/// Counts the pixels of a word.
template <class Exec, class T>
struct CountFillPixels {
  using value_type = PixelCount<T>;
  core::WordRows<T> rows;
  T low, high;     // of the constant
  T below, above;  // the next levels

  KOKKOS_FUNCTION void operator()(std::int64_t w, PixelCount<T>& count) const {
    const auto word = rows.word(w);
    const Bits here = bits_of(word.pixels, word.n);
    count.finite += core::popcount(here.finite);
    add_pairs(here, {here.inside >> 1, here.level >> 1, here.finite >> 1}, count);
    if (w + rows.words_per_row < rows.words())
      add_pairs(here, bits_of(word.pixels + rows.pitch, word.n), count);
    const std::uint64_t inside = here.inside;
    count.inside += extremes_of(word.pixels, inside);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION core::MinMaxCount<T> extremes_of(const T* pixels,
                                                                 std::uint64_t inside) const {
    core::MinMaxCount<T> extremes;
    extremes.count = core::popcount(inside);
    if (low == high) {  // the usual case
      if (inside != 0) extremes.min = extremes.max = low;
      return extremes;
    }
    for (std::uint64_t bits = inside; bits != 0; bits &= bits - 1) {
      const T x = pixels[core::countr_zero(bits)];
      extremes.min = x < extremes.min ? x : extremes.min;
      extremes.max = x > extremes.max ? x : extremes.max;
    }
    return extremes;
  }
  /// Bits of pixels that have the constant, that are from one level to the next, or finite.
  struct Bits {
    std::uint64_t inside, level, finite;
  };
  [[nodiscard]] KOKKOS_FUNCTION Bits bits_of(const T* pixels, std::int64_t n) const {
    constexpr T most = Kokkos::Experimental::finite_max_v<T>;
    return {bits_from_to<Exec>(pixels, n, low, high), bits_from_to<Exec>(pixels, n, below, above),
            bits_from_to<Exec>(pixels, n, -most, most)};
  }
  static KOKKOS_FUNCTION void add_pairs(const Bits& a, const Bits& b, PixelCount<T>& count) {
    const std::uint64_t mixed = (a.inside ^ b.inside) & a.finite & b.finite;
    count.pairs += core::popcount(a.finite & b.finite);
    count.mixed += core::popcount(mixed);
    count.steps += core::popcount(mixed & a.level & b.level);
  }
};

/// Marks the pixels of a word that are fill.
template <class Exec, class T>
struct ExcludePixels {
  core::WordRows<T> rows;
  T low, high;
  std::uint64_t* usable;
  std::uint64_t* excluded;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    const auto word = rows.word(w);
    const std::uint64_t inside = bits_from_to<Exec>(word.pixels, word.n, low, high);
    usable[w] &= ~inside;
    excluded[w] |= inside;
  }
};

}  // namespace kastor::detail

#endif
