// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_TILE_HPP
#define KASTOR_CORE_TILE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/group.hpp"
#include "core/intrinsics.hpp"
#include "core/portable.hpp"

/// Tiles: rectangles of an image that a group processes in its scratch memory.
namespace kastor::core {

/// Number of neighbouring pixels that one thread processes side by side. On a CPU 256 bytes, which
/// a compiler keeps in eight vectors; on a device one, since neighbouring threads take neighbouring
/// pixels.
template <class Exec, class T>
inline constexpr int lanes_v =
    runs_on_host_v<Exec> && !portable ? 256 / static_cast<int>(sizeof(T)) : 1;

/// Scratch memory that a group may use: on a device so much that six groups fit on a
/// multiprocessor, on a CPU what fits into the L2 cache.
template <class Exec>
inline constexpr int scratch_bytes_v = runs_on_host_v<Exec> && !portable ? 256 * 1024 : 38'000;

/// The pitch of rows of `columns` elements in scratch memory. On a device an odd number of
/// elements, so that threads on neighbouring rows use different banks; on a CPU an odd number of
/// cache lines.
template <class Exec, class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int scratch_pitch(int columns) {
  constexpr int unit = runs_on_host_v<Exec> && !portable ? 64 / static_cast<int>(sizeof(T)) : 1;
  return ((columns + unit - 1) / unit | 1) * unit;
}

/// Copies ny rows of nx values; on a device a thread has eight loads in flight. Does not end with a
/// barrier. The size of a team must be a multiple of 32.
template <class Exec, class T>
KOKKOS_FUNCTION void copy_rows(const Group<Exec>& group, int ny, int nx, const T* from,
                               std::int64_t from_pitch, T* to, int to_pitch) {
  if constexpr (lanes_v < Exec, T >> 1) {
    group.for_each_2d(ny, nx,
                      [&](int y, int x) { to[y * to_pitch + x] = from[y * from_pitch + x]; });
  } else {
    constexpr int at_once = 8;
    constexpr int side_by_side = Group<Exec>::side_by_side;
    const int rows = group.size() / side_by_side;
    for (int x = group.rank() % side_by_side; x < nx; x += side_by_side) {
      int y = group.rank() / side_by_side;
      const T* source = from + y * from_pitch + x;
      for (; y < ny; y += at_once * rows) {
        T loaded[at_once];
        KASTOR_UNROLL
        for (int k = 0; k < at_once; ++k) {
          if (y + k * rows < ny) loaded[k] = *source;
          source += rows * from_pitch;
        }
        KASTOR_UNROLL
        for (int k = 0; k < at_once; ++k)
          if (y + k * rows < ny) to[(y + k * rows) * to_pitch + x] = loaded[k];
      }
    }
  }
}

}  // namespace kastor::core

#endif
