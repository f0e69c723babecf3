// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_TILE_PACKS_HPP
#define KASTOR_CORE_TILE_PACKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
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
      : m_rows(rows),
        m_first_word(first_word),
        m_packs(words * per_word),
        m_contiguous(rows.are_contiguous() && is_aligned(rows.data) ? rows.data + first_word * 64
                                                                    : nullptr) {}

  /// The pixel at a place of the tile: bit `place % 64` of word `place / 64`.
  [[nodiscard]] KOKKOS_FUNCTION T at(int place) const {
    return m_rows.word(m_first_word + place / 64).pixels[place % 64];
  }

  /// `bits_of(pack)` for each pack, whose places beyond its pixels hold NaN; then, where a bit of a
  /// pixel is 1, `take(bits, place_of, pixel_of)` for some packs at once:
  /// `place_of(bit)` is the bit's place in the tile, `pixel_of(bit)` its pixel.
  template <class BitsOf, class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(const Group<Exec>& group, const BitsOf& bits_of,
                                            const Take& take) const {
    for (int first = group.rank(); first < m_packs; first += batch * group.size()) {
      if constexpr (batch == 1) {
        const Pixels pixels = pixels_of(first);
        std::uint64_t bits = 0;
        for_each_pack<width>(pixels.first, pixels.n, [&](const auto& pack, int) {
          bits = bits_of(pack) & low_bits(pixels.n);
        });
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
  /// The packs of one thread, from the first on: the row is divided for once.
  class Walk {
   public:
    KOKKOS_FUNCTION Walk(const TilePacks& tile, int first)
        : m_tile(tile),
          m_pack(first),
          m_words_per_row(static_cast<int>(tile.m_rows.words_per_row)) {
      const std::int64_t word = tile.m_first_word + first / per_word;
      m_row = row_of_word(word, tile.m_rows.words_per_row);
      m_word = static_cast<int>(word - m_row * tile.m_rows.words_per_row);
    }
    [[nodiscard]] KOKKOS_FUNCTION Pixels pixels() const {
      if (m_pack >= m_tile.m_packs) return {m_tile.m_rows.data, 0};
      const std::int64_t x = std::int64_t{m_word} * 64 + m_pack % per_word * width;
      const std::int64_t n = m_tile.m_rows.nx - x;
      return {m_tile.m_rows.data + m_row * m_tile.m_rows.pitch + x,
              n < 0 ? 0 : (n < width ? static_cast<int>(n) : width)};
    }
    KOKKOS_FUNCTION void advance(int packs) {
      m_word += (m_pack + packs) / per_word - m_pack / per_word;
      m_pack += packs;
      while (m_word >= m_words_per_row) {
        m_word -= m_words_per_row;
        ++m_row;
      }
    }

   private:
    const TilePacks& m_tile;
    int m_pack, m_words_per_row;
    int m_word;  ///< of the row
    std::int64_t m_row;
  };
  template <class BitsOf>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits_of_batch(
      const Group<Exec>& group, int first, const BitsOf& bits_of) const {
    Pack<T, width> pack[batch];
    std::uint64_t held = ~std::uint64_t{0};
    if (m_contiguous != nullptr && first + (batch - 1) * group.size() < m_packs) {
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k)
        pack[k] = Pack<T, width>::load(m_contiguous + (first + k * group.size()) * width);
    } else {
      held = load_some(group, first, pack);
    }
    std::uint64_t bits = 0;
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) bits |= bits_of(pack[k]) << (k * width);
    return bits & held;
  }
  /// Packs that may lie anywhere, and be beyond the last one. \return the bits of their pixels
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t load_some(const Group<Exec>& group, int first,
                                                        Pack<T, width> (&pack)[batch]) const {
    constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;
    Pixels pixels[batch];
    bool all_full = true;
    Walk walk(*this, first);
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) {
      pixels[k] = walk.pixels();
      walk.advance(group.size());
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
    std::uint64_t held = 0;
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) held |= low_bits(pixels[k].n) << (k * width);
    return held;
  }

  WordRows<T> m_rows;
  std::int64_t m_first_word;
  int m_packs;
  const T* m_contiguous;  ///< all pixels of the tile, if they lie side by side in whole packs
};

}  // namespace kastor::core

#endif
