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

/// Where a group finds the pixels that it looks at: in the image, or in its scratch memory. Both
/// hand them out in packs, NaN in the place of pixels that are not good.
namespace kastor::detail {

template <class Exec, class T>
using CellPack = core::Pack<T, core::narrow_pack_width_v<Exec, T>>;

/// The good pixels of a cell, read from the image every time: cells of any size.
template <class Exec, class T>
class StreamedPixels {
 public:
  using Pixel = T;
  using Pack = CellPack<Exec, T>;
  using Integer = core::Int128;  ///< for sums of so many

  KOKKOS_FUNCTION StreamedPixels(const core::Group<Exec>& group, const CellImage<T>& image,
                                 const Cell& cell)
      : m_group(group),
        m_image(image),
        m_cell(cell),
        m_packs_per_row((cell.width + Pack::width - 1) / Pack::width) {}

  /// `visit(pack)` for this thread's share of the packs.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_pack(const Visit& visit) const {
    for_each_place([&](const Pack& pack, std::int64_t, std::int64_t) { visit(pack); });
  }
  /// `visit(pack, at, n)`: the pack holds n pixels of the cell from pixel `at` on.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_place(const Visit& visit) const {
    core::RasterWalk walk(m_group.rank(), m_group.size(), m_packs_per_row);
    if (Pack::width < 64 && has_whole_packs_only()) return for_each_whole(walk, visit);
    KASTOR_KEEP_LOOP
    for (; walk.y() < m_cell.height; walk.step()) {
      Pack pack;
      const std::int64_t y = walk.y(), x = walk.x() * Pack::width;
      load(y, x, pack);
      leave_out_excluded(pack, y, x);
      visit(pack, y * m_cell.width + x, in_pack(x));
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
  /// A device's thread has several loads on their way before it waits for the first.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_whole(core::RasterWalk walk, const Visit& visit) const {
    constexpr int at_once = 4;
    const std::int64_t pitch = m_image.rows.one.pitch;
    const T* const first = m_image.rows.row(m_cell.y) + m_cell.x;
    const auto finite = [](T value) { return core::is_finite(value) ? value : nan; };
    KASTOR_KEEP_LOOP
    while (walk.y() < m_cell.height) {
      Pack packs[at_once];
      std::int64_t at[at_once];
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        at[k] = -1;
        if (walk.y() < m_cell.height) {
          const std::int64_t x = walk.x() * Pack::width;
          at[k] = walk.y() * m_cell.width + x;
          core::load_aligned<Pack::width>(first + walk.y() * pitch + x, packs[k].pixel, finite);
        }
        walk.step();
      }
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k)
        if (at[k] >= 0) visit(packs[k], at[k], std::int64_t{Pack::width});
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t in_pack(std::int64_t x) const {
    return m_cell.width - x < Pack::width ? m_cell.width - x : Pack::width;
  }
  KOKKOS_FUNCTION void load(std::int64_t y, std::int64_t x, Pack& pack) const {
    const T* const from = m_image.rows.row(m_cell.y + y) + m_cell.x + x;
    const std::int64_t n = in_pack(x);
    const auto finite = [](T value) { return core::is_finite(value) ? value : nan; };
    if (n == Pack::width && core::is_aligned(from))
      return core::load_aligned<Pack::width>(from, pack.pixel, finite);
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j) pack.pixel[j] = j < n ? finite(from[j]) : nan;
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
  std::int64_t m_packs_per_row;
};

/// Fewer than 2^18 pixels in scratch memory.
template <class Exec, class T>
class ScratchPixels {
 public:
  using Pixel = T;
  using Pack = CellPack<Exec, T>;
  using Integer = std::int64_t;

  /// Elements of scratch memory for so many: whole packs.
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int room_for(int count) {
    return (count + Pack::width - 1) / Pack::width * Pack::width;
  }

  /// Fills the last pack up with NaN. All threads must call it, after a barrier and before another.
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
  [[nodiscard]] KOKKOS_FUNCTION T operator[](std::int64_t i) const { return m_pixels[i]; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return m_count; }

 private:
  const core::Group<Exec>& m_group;
  T* m_pixels;
  int m_count;
};

}  // namespace kastor::detail

#endif
