// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_CELL_PIXELS_HPP
#define KASTOR_BACKGROUND_CELL_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "background/cell_image.hpp"
#include "core/bits.hpp"
#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/pack.hpp"
#include "core/raster_walk.hpp"

/// Sources of pixels for a group: an image, or the group's scratch memory. Both provide packs of
/// pixels, with NaN in place of pixels that are not good.
namespace kastor::detail {

template <class Exec, class T>
using CellPack = core::Pack<T, core::narrow_pack_width_v<Exec, T>>;

/// The good pixels of a cell, read from the image each time. `Index_` must be able to count them.
template <class Exec, class T, class Index_ = std::int64_t>
class StreamedPixels {
 public:
  using Pixel = T;
  using Pack = CellPack<Exec, T>;
  using Index = Index_;
  using Integer = core::Int128;  ///< for sums over so many pixels

  KOKKOS_FUNCTION StreamedPixels(const core::Group<Exec>& group, const CellImage<T>& image,
                                 const Cell& cell)
      : m_group(group),
        m_image(image),
        m_cell(cell),
        m_packs_per_row(static_cast<Index>((cell.width + Pack::width - 1) / Pack::width)) {}

  /// `visit(pack)` for this thread's share of the packs.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_pack(const Visit& visit) const {
    for_each_place([&](const Pack& pack, Index, Index) { visit(pack); });
  }
  /// Calls `bits_of(pack)` for this thread's share of the packs. If any bit is set, calls
  /// `take(bits, pixel_of)`, where `pixel_of(bit)` is the pixel.
  template <class BitsOf, class Take>
  KOKKOS_FUNCTION void for_each_marked(const BitsOf& bits_of, const Take& take) const {
    for_each_place([&](const Pack& pack, Index at, Index) {
      const std::uint64_t bits = bits_of(pack);
      if (bits != 0) take(bits, [&](int bit) { return (*this)[at + bit]; });
    });
  }
  /// `visit(pack, at, n)`: the pack holds n pixels of the cell, beginning with pixel `at`.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_place(const Visit& visit) const {
    core::RasterWalk<Index> walk(m_group.rank(), m_group.size(), m_packs_per_row);
    if (Pack::width < 64 && has_whole_packs_only()) return for_each_whole(walk, visit);
    KASTOR_KEEP_LOOP
    for (; walk.y() < m_cell.height; walk.step()) {
      Pack pack;
      const Index y = walk.y(), x = walk.x() * Pack::width;
      load(y, x, pack);
      leave_out_excluded(pack, y, x);
      visit(pack, y * static_cast<Index>(m_cell.width) + x, static_cast<Index>(in_pack(x)));
    }
  }
  /// Pixel i of the cell.
  [[nodiscard]] KOKKOS_FUNCTION T operator[](std::int64_t i) const {
    const std::int64_t y = m_cell.y + i / m_cell.width, x = m_cell.x + i % m_cell.width;
    const T value = m_image.rows.row(y)[x];
    const bool is_excluded =
        m_image.excluded.words != nullptr && (m_image.excluded.bits(y, x, 1) & 1) != 0;
    return core::is_finite(value) && !is_excluded ? value : nan;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return m_cell.pixels(); }

 private:
  static constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;

  [[nodiscard]] KOKKOS_FUNCTION bool has_whole_packs_only() const {
    const auto& band = m_image.rows.one;
    return m_image.rows.bands == nullptr && m_image.excluded.words == nullptr &&
           m_cell.width % Pack::width == 0 && band.pitch % Pack::width == 0 &&
           core::is_aligned(m_image.rows.row(m_cell.y) + m_cell.x);
  }
  /// On a device, each thread has several loads in flight before it uses the first pixel.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_whole(core::RasterWalk<Index> walk, const Visit& visit) const {
    constexpr int at_once = 2;
    const std::int64_t pitch = m_image.rows.one.pitch;
    const T* const first = m_image.rows.row(m_cell.y) + m_cell.x;
    const auto height = static_cast<Index>(m_cell.height), width = static_cast<Index>(m_cell.width);
    KASTOR_KEEP_LOOP
    while (walk.y() < height) {
      Pack packs[at_once];
      Index at[at_once];
      bool is_held[at_once];
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const Index x = walk.x() * Pack::width;
        is_held[k] = walk.y() < height;
        at[k] = walk.y() * width + x;
        const T* const from = first + (is_held[k] ? walk.y() * pitch + x : 0);
        core::load_aligned<Pack::width>(from, packs[k].pixel);
        walk.step();
      }
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (!is_held[k]) continue;
        for (int j = 0; j < Pack::width; ++j) packs[k].pixel[j] = good(packs[k].pixel[j]);
        visit(packs[k], at[k], Index{Pack::width});
      }
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION static T good(T value) {
    return core::is_finite(value) ? value : nan;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t in_pack(std::int64_t x) const {
    return m_cell.width - x < Pack::width ? m_cell.width - x : Pack::width;
  }
  KOKKOS_FUNCTION void load(std::int64_t y, std::int64_t x, Pack& pack) const {
    const T* const from = m_image.rows.row(m_cell.y + y) + m_cell.x + x;
    const std::int64_t n = in_pack(x);
    if (n == Pack::width && core::is_aligned(from))
      return core::load_aligned<Pack::width>(from, pack.pixel, [](T value) { return good(value); });
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j) pack.pixel[j] = j < n ? good(from[j]) : nan;
  }
  KOKKOS_FUNCTION void leave_out_excluded(Pack& pack, std::int64_t y, std::int64_t x) const {
    if (m_image.excluded.words == nullptr) return;
    const std::uint64_t excluded =
        m_image.excluded.bits(m_cell.y + y, m_cell.x + x, in_pack(x)) & core::low_bits(in_pack(x));
    if (excluded == 0) return;
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j)
      pack.pixel[j] = (excluded >> j & 1) != 0 ? nan : pack.pixel[j];
  }

  const core::Group<Exec>& m_group;
  const CellImage<T>& m_image;
  const Cell m_cell;
  Index m_packs_per_row;
};

/// Pixels in scratch memory, fewer than 2^18.
template <class Exec, class T>
class ScratchPixels {
 public:
  using Pixel = T;
  using Pack = CellPack<Exec, T>;
  using Index = int;
  using Integer = std::int64_t;

  /// Elements of scratch memory for `count` pixels: whole packs.
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int room_for(int count) {
    return (count + Pack::width - 1) / Pack::width * Pack::width;
  }

  /// Pads the last pack with NaN. All threads must call it, after a barrier and before another one.
  KOKKOS_FUNCTION ScratchPixels(const core::Group<Exec>& group, T* pixels, int count)
      : m_group(group), m_pixels(pixels), m_count(count) {
    group.for_each(room_for(count) - count,
                   [&](int i) { pixels[count + i] = Kokkos::Experimental::quiet_NaN_v<T>; });
  }

  /// `visit(pack)` for this thread's share of the packs.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_pack(const Visit& visit) const {
    const int packs = room_for(m_count) / Pack::width;
    KASTOR_KEEP_LOOP
    for (int k = m_group.rank(); k < packs; k += m_group.size())
      visit(core::pack_at<Pack::width>(m_pixels + k * Pack::width));
  }
  /// As in StreamedPixels, but each thread first looks at as many packs as a word has bits for.
  template <class BitsOf, class Take>
  KOKKOS_FUNCTION void for_each_marked(const BitsOf& bits_of, const Take& take) const {
    constexpr int batch = 64 / Pack::width;
    const int packs = room_for(m_count) / Pack::width;
    const int step = m_group.size();
    KASTOR_KEEP_LOOP
    for (int first = m_group.rank(); first < packs; first += batch * step) {
      std::uint64_t bits = 0;
      KASTOR_KEEP_LOOP
      for (int k = 0; k < batch && first + k * step < packs; ++k)
        bits |= bits_of(core::pack_at<Pack::width>(m_pixels + (first + k * step) * Pack::width))
                << (k * Pack::width);
      if (bits == 0) continue;
      take(bits, [&](int bit) {
        return m_pixels[(first + bit / Pack::width * step) * Pack::width + bit % Pack::width];
      });
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION T operator[](std::int64_t i) const { return m_pixels[i]; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return m_count; }

 private:
  const core::Group<Exec>& m_group;
  T* m_pixels;
  int m_count;
};

}  // namespace kastor::detail

#endif
