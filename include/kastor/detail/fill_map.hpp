// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FILL_MAP_HPP
#define KASTOR_DETAIL_FILL_MAP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>

namespace kastor::detail {

/// Pixels from x to x + n of a row of a surface, with the bits of `surface(y, x)`: what depends on
/// the row and on two nodes alone is worked out once for the pixels between them.
template <class Exec, class T>
KOKKOS_FUNCTION void fill_row(const MeshSurface<Exec>& surface, std::int64_t y, std::int64_t x,
                              std::int64_t n, T* to) {
  using Place = typename MeshSurface<Exec>::Place;
  const auto& nodes = surface.nodes;
  const auto rows = static_cast<std::int64_t>(nodes.extent(0));
  const auto columns = static_cast<std::int64_t>(nodes.extent(1));
  const std::int64_t end = x + n;
  const Place v(y, surface.cell_height, rows);
  while (x < end) {
    const Place at(x, surface.cell_width, columns);
    const MeshNode& a = nodes(v.first, at.first);
    const MeshNode& b = nodes(v.first, at.second);
    const MeshNode& c = nodes(v.second, at.first);
    const MeshNode& d = nodes(v.second, at.second);
    const double left = v.cubic(a.value, c.value, a.d2y, c.d2y);
    const double right = v.cubic(b.value, d.value, b.d2y, d.d2y);
    const double left_d2 = v.cubic(a.d2x, c.d2x, a.d2x2y, c.d2x2y);
    const double right_d2 = v.cubic(b.d2x, d.d2x, b.d2x2y, d.d2x2y);
    // The first pixel that lies beyond the second node, but for the last two.
    std::int64_t stop = end;
    if (at.first < columns - 2) {
      const std::int64_t beyond = ((2 * at.first + 3) * surface.cell_width) / 2;
      stop = beyond < end ? beyond : end;
    }
    const auto cell = static_cast<double>(surface.cell_width);
    const auto first = static_cast<double>(at.first);
    Place u = at;
    if (!surface.positive) {
      for (; x < stop; ++x) {
        u.t = columns < 2 ? 0.0 : (static_cast<double>(x) + 0.5) / cell - 0.5 - first;
        *to++ = static_cast<T>(u.cubic(left, right, left_d2, right_d2));
      }
    } else {
      const double low = v.linear(a.value, c.value), high = v.linear(b.value, d.value);
      for (; x < stop; ++x) {
        u.t = columns < 2 ? 0.0 : (static_cast<double>(x) + 0.5) / cell - 0.5 - first;
        const double smooth = u.cubic(left, right, left_d2, right_d2);
        const double least = 0.5 * u.linear(low, high);
        *to++ = static_cast<T>(smooth > least ? smooth : least);
      }
    }
  }
}

/// A row on a host, a pixel on a device.
template <class Exec, class T>
struct FillMap {
  PixelMap<Exec, T> map;
  MutableImage<T, Exec> image;
  std::int64_t first_row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    if constexpr (is_host_space_v<Exec>) {
      if (map.kind() == PixelMap<Exec, T>::Kind::surface) {
        fill_row(map.surface(), first_row + i, 0, nx, &image(i, 0));
      } else {
        for (std::int64_t x = 0; x < nx; ++x) image(i, x) = static_cast<T>(map(first_row + i, x));
      }
    } else {
      image(i / nx, i % nx) = static_cast<T>(map(first_row + i / nx, i % nx));
    }
  }
};

}  // namespace kastor::detail

#endif
