// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_TILE_PACKS_HPP
#define KASTOR_CORE_TILE_PACKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/group.hpp"
#include "core/pack.hpp"
#include "core/word_rows.hpp"

namespace kastor::core {

/// The packs of some words of a band, side by side, shared among the threads of a group: a CPU's
/// thread takes word after word, a device's neighbouring threads take neighbouring packs of 16
/// bytes, several of which are under way at once.
template <class Exec, class T>
class TilePacks {
 public:
  static constexpr int width = narrow_pack_width_v<Exec, T>;

  KOKKOS_FUNCTION TilePacks(const WordRows<T>& rows, std::int64_t first_word, int words)
      : m_rows(rows), m_first_word(first_word), m_packs(words * per_word) {}

  /// The pixel at a place of the tile: bit `place % 64` of word `place / 64`.
  [[nodiscard]] KOKKOS_FUNCTION T at(int place) const {
    return m_rows.word(m_first_word + place / 64).pixels[place % 64];
  }

  /// `bits_of(pack)` for each pack, whose places beyond its pixels hold NaN, which no comparison
  /// holds for; then, where a bit is 1, `take(bits, place_of, pixel_of)` for some packs at once:
  /// `place_of(bit)` is the bit's place in the tile, `pixel_of(bit)` its pixel.
  template <class BitsOf, class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(const Group<Exec>& group, const BitsOf& bits_of,
                                            const Take& take) const {
    for (int first = group.rank(); first < m_packs; first += batch * group.size()) {
      if constexpr (batch == 1) {
        const Pixels pixels = pixels_of(first);
        std::uint64_t bits = 0;
        for_each_pack<width>(pixels.first, pixels.n,
                             [&](const auto& pack, int) { bits = bits_of(pack); });
        if (bits != 0)
          take(
              bits, [first](int bit) { return first * 64 + bit; },
              [&pixels](int bit) { return pixels.first[bit]; });
      } else {
        const std::uint64_t bits = bits_of_batch(group, first, bits_of);
        const auto place_of = [&](int bit) {
          return (first + bit / width * group.size()) * width + bit % width;
        };
        if (bits != 0) take(bits, place_of, [&](int bit) { return at(place_of(bit)); });
      }
    }
  }

 private:
  static constexpr int per_word = 64 / width;
  static constexpr int batch = width == 64 ? 1 : 4;

  struct Pixels {
    const T* first;
    int n;
  };
  [[nodiscard]] KOKKOS_FUNCTION Pixels pixels_of(int p) const {
    const auto word = m_rows.word(m_first_word + p / per_word);
    const int bit = p % per_word * width;
    const auto n = static_cast<int>(word.n) - bit;
    return {word.pixels + bit, n < 0 ? 0 : (n < width ? n : width)};
  }
  template <class BitsOf>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits_of_batch(
      const Group<Exec>& group, int first, const BitsOf& bits_of) const {
    constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;
    Pixels pixels[batch];
    Pack<T, width> pack[batch];
    bool all_full = true;
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) {
      const int p = first + k * group.size();
      pixels[k] = pixels_of(p < m_packs ? p : first);
      if (p >= m_packs) pixels[k].n = 0;
      all_full &= pixels[k].n == width && is_aligned(pixels[k].first);
    }
    if (all_full) {  // one branch for all, so that the loads follow one another
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) pack[k] = Pack<T, width>::load(pixels[k].first);
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k)
        pack[k] = Pack<T, width>::load(pixels[k].first, pixels[k].n, nan);
    }
    std::uint64_t bits = 0;
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) bits |= bits_of(pack[k]) << (k * width);
    return bits;
  }

  WordRows<T> m_rows;
  std::int64_t m_first_word;
  int m_packs;
};

}  // namespace kastor::core

#endif
