// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_TILE_PACKS_HPP
#define KASTOR_CORE_TILE_PACKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
#include "core/group.hpp"
#include "core/pack.hpp"
#include "core/raster_walk.hpp"
#include "core/word_rows.hpp"

namespace kastor::core {

/// The packs of consecutive words of a band, shared among the threads of a group. On a CPU a thread
/// takes word after word. On a device neighbouring threads take neighbouring packs of 16 bytes, and
/// each thread has several loads in flight.
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

  /// The pixel at a place of the tile; a place is bit `place % 64` of word `place / 64`.
  [[nodiscard]] KOKKOS_FUNCTION T at(int place) const {
    return m_rows.word(m_first_word + place / 64).pixels[place % 64];
  }

  /// Calls `bits_of(pack, place)` for each pack; `place` is that of its first pixel. Where the tile
  /// has no pixel, the pack holds NaN. If any bit is set in a batch of packs, calls `take(bits,
  /// place_of, pixel_of)`: `place_of(bit)` is the place of a bit in the tile, `pixel_of(bit)` its
  /// pixel.
  template <class BitsOf, class Take>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(const Group<Exec>& group, const BitsOf& bits_of,
                                            const Take& take) const {
    for (int first = group.rank(); first < m_packs; first += batch * group.size()) {
      if constexpr (batch == 1) {
        const auto word = m_rows.word(m_first_word + first);
        std::uint64_t bits = 0;
        for_each_pack<width>(word.pixels, word.n, [&](const auto& pack, int) {
          bits = bits_of(pack, first * 64) & low_bits(word.n);
        });
        if (bits != 0)
          take(
              bits, [first](int bit) { return first * 64 + bit; },
              [&word](int bit) { return word.pixels[bit]; });
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
    for (int k = 0; k < batch; ++k)
      bits |= bits_of(pack[k], (first + k * group.size()) * width) << (k * width);
    return bits & held;
  }
  /// Loads packs that may be unaligned, or beyond the last one. \return the bits of the pixels that
  /// exist
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t load_some(const Group<Exec>& group, int first,
                                                        Pack<T, width> (&pack)[batch]) const {
    constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;
    const T* from[batch];
    std::int64_t n[batch];
    bool all_full = true;
    RasterWalk<> walk(m_first_word * per_word + first, group.size(),
                      m_rows.words_per_row * per_word);
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) {
      const std::int64_t x = walk.x() * width;
      const std::int64_t left = m_rows.nx - x;
      const bool is_held = first + k * group.size() < m_packs && left > 0;
      n[k] = is_held ? (left < width ? left : width) : 0;
      from[k] = is_held ? m_rows.data + walk.y() * m_rows.pitch + x : m_rows.data;
      all_full &= n[k] == width && is_aligned(from[k]);
      walk.step();
    }
    if (all_full) {  // one branch for all, so that the loads are issued together
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) pack[k] = Pack<T, width>::load(from[k]);
    } else {
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) pack[k] = Pack<T, width>::load(from[k], n[k], nan);
    }
    std::uint64_t held = 0;
    KASTOR_UNROLL
    for (int k = 0; k < batch; ++k) held |= low_bits(n[k]) << (k * width);
    return held;
  }

  WordRows<T> m_rows;
  std::int64_t m_first_word;
  int m_packs;
  const T* m_contiguous;  ///< all pixels of the tile, if they are contiguous and aligned; else null
};

}  // namespace kastor::core

#endif
