// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_EXCERPT_HPP
#define KASTOR_DETAIL_CELL_EXCERPT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/device_cell.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/rank_window.hpp>

/// What the clip of a cell asks for, taken out of it by a crew, so that one thread can clip it: a
/// crew's threads would all repeat the same arithmetic.
namespace kastor::detail {

template <class T>
struct CellExcerpt {
  static constexpr std::int32_t failed = -1;

  std::int32_t good;          ///< pixels; `failed`: the cell does not fit
  std::int32_t first_rank;    ///< of those in order
  std::int32_t below, tails;  ///< pixels below the core, and on both sides of it
  std::int64_t sum, squares;  ///< of all on Grid(median, min, max)
  T min, max;
  Interval<T> core;  ///< between its limits no pixel is kept
  const T* ranked;   ///< in order
  const T* tail;     ///< in order
};

/// Memory for the pixels of excerpts, in whole packs.
template <class T>
struct ExcerptPool {
  T* pixels;
  std::uint32_t room;
  std::uint32_t* used;

  /// For a crew. Null: there is no room.
  template <class Crew>
  [[nodiscard]] KOKKOS_FUNCTION T* reserve(const Crew& crew, int n) const {
    std::uint32_t at = 0;
    if (crew.rank() == 0) at = Kokkos::atomic_fetch_add(used, static_cast<std::uint32_t>(n));
    at = crew.sum(at);
    return at + static_cast<std::uint32_t>(n) <= room ? pixels + at : nullptr;
  }
};

/// Takes it. False: the cell does not fit, and `to` is not complete.
template <class Crew, class T>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool take_excerpt(const Crew& crew,
                                                            DeviceCell<Crew, T>& pixels,
                                                            double kappa,
                                                            const ExcerptPool<T>& pool,
                                                            CellExcerpt<T>& to) {
  const Extent<T> all = pixels.extent();
  const bool writes = crew.rank() == 0;
  if (writes) {
    to.good = static_cast<std::int32_t>(all.count);
    to.tails = to.below = 0;
    to.min = all.min;
    to.max = all.max;
  }
  if (all.count == 0) return true;
  typename DeviceCell<Crew, T>::Ranks ranks(pixels, all);
  IntervalSums sums;
  typename DeviceCell<Crew, T>::Tails tails;
  // The first median, then those that may follow.
  std::int64_t first = (all.count - 1) / 2, last = first;
  KASTOR_KEEP_LOOP
  for (int round = 0; round < 2; ++round) {
    if (!ranks.cover(first, last)) return false;
    if (round == 1) break;
    const auto median = static_cast<double>(ranks.at(first));
    pixels.expect_limits(kappa, median, all.count);
    sums = pixels.sums(Interval<T>{},
                       Grid(median, static_cast<double>(all.min), static_cast<double>(all.max)));
    tails = pixels.tails();
    if (tails.lost != 0 || tails.all() > DeviceCell<Crew, T>::most_sorted_tails) return false;
    // A median has as many of the tails as are left on each side.
    const std::int64_t after = (all.count - 1 + tails.below) / 2 + 1;
    first = (all.count - 1 - tails.above) / 2;
    last = after < all.count ? after : all.count - 1;
  }
  const int n = static_cast<int>(last - first) + 1;
  T* const kept = pool.reserve(crew, n + tails.all());
  if (kept == nullptr) return false;
  for (int i = crew.rank(); i < n; i += crew.size()) kept[i] = ranks.at(first + i);
  pixels.sort_tails(kept + n);
  if (!writes) return true;
  to.first_rank = static_cast<std::int32_t>(first);
  to.below = static_cast<std::int32_t>(tails.below);
  to.tails = tails.all();
  to.sum = static_cast<std::int64_t>(sums.sum.low);
  to.squares = static_cast<std::int64_t>(sums.squares.low);
  to.core = pixels.core();
  to.ranked = kept;
  to.tail = kept + n;
  return true;
}

/// Those tails of an excerpt that lie on one side of its core, and are not gone. Looked at from the
/// outermost on, in batches of whole packs, which are not the excerpt's alone. A batch stays in
/// registers until all of it is gone, and the next is on its way: the pixels come from far away.
template <class T, int Inwards>
class TailRun {
 public:
  /// Tails [begin, end).
  KOKKOS_FUNCTION TailRun(const T* tail, int begin, int end) {
    const auto shift =
        static_cast<int>(reinterpret_cast<std::uintptr_t>(tail) % sizeof(Pack) / sizeof(T));
    m_packs = reinterpret_cast<const Pack*>(tail - shift);
    m_begin = begin + shift;
    m_end = end + shift;
    m_first = Inwards > 0 ? m_begin / pack * pack : (m_end + pack - 1) / pack * pack - batch;
    load(m_first, m_now);
    load(m_first + Inwards * batch, m_next);
  }

  [[nodiscard]] KOKKOS_FUNCTION bool empty() const { return m_begin == m_end; }
  /// Of those that are left.
  [[nodiscard]] KOKKOS_FUNCTION T outermost() const {
    return m_packs->pixel[Inwards > 0 ? m_begin : m_end - 1];
  }
  /// Adds those to `gone` that are beyond a limit, and says how many they are. Batches without
  /// branches: the threads of a warp have runs of different lengths.
  template <class IsBeyond>
  [[nodiscard]] KOKKOS_FUNCTION int remove(const Grid& grid, CellSums& gone,
                                           const IsBeyond& is_beyond) {
    const GridTerms<T> terms(grid);
    const auto centre = static_cast<T>(grid.centre);
    int all = 0;
    while (!empty()) {
      int removed = 0;
      T gone_pixels[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const T x = m_now[k / pack].pixel[k % pack];
        const int at = m_first + k;
        const bool goes = (at >= m_begin) & (at < m_end) & is_beyond(x);
        gone_pixels[k] = goes ? x : centre;
        add_if(goes, 1, removed);
      }
      typename GridTerms<T>::Sums sums;
      terms.add(gone_pixels, sums);
      gone.sum += terms.in_steps(sums.sum);
      gone.squares += terms.in_steps(sums.squares);
      all += removed;
      if constexpr (Inwards > 0) {
        m_begin += removed;
        if (m_begin < m_first + batch) break;
      } else {
        m_end -= removed;
        if (m_end > m_first) break;
      }
      m_first += Inwards * batch;
      KASTOR_UNROLL
      for (int k = 0; k < batch / pack; ++k) m_now[k] = m_next[k];
      load(m_first + Inwards * batch, m_next);
    }
    gone.inside += static_cast<std::uint32_t>(all);
    return all;
  }

 private:
  using Pack = PixelPack<T>;
  static constexpr int pack = Pack::size;
  static constexpr int batch = 8;

  KOKKOS_FUNCTION void load(int first, Pack (&to)[batch / pack]) const {
    KASTOR_UNROLL
    for (int k = 0; k < batch; k += pack) {
      const int at = first + k;
      if (at + pack > m_begin && at < m_end) to[k / pack] = m_packs[at / pack];
    }
  }

  const Pack* m_packs;
  int m_begin, m_end;  ///< in pixels of the packs
  int m_first;         ///< of the batch
  Pack m_now[batch / pack]{}, m_next[batch / pack]{};
};

/// Answers for one thread as the cell would; what it has not been told it cannot know, and then all
/// answers are worthless.
template <class T>
class ExcerptedCell {
 public:
  class Ranks {
   public:
    KOKKOS_FUNCTION Ranks(ExcerptedCell& cell, const Extent<T>&) : m_cell(cell) {}
    [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) {
      const T* const at = m_cell.m_from.ranked + (k - m_cell.m_from.first_rank);
      return {at[0], two ? at[1] : at[0]};
    }

   private:
    ExcerptedCell& m_cell;
  };

  KOKKOS_FUNCTION explicit ExcerptedCell(const CellExcerpt<T>& from)
      : m_from(from),
        m_below(from.tail, 0, from.below),
        m_above(from.tail, from.below, from.tails) {}

  [[nodiscard]] KOKKOS_FUNCTION bool knew_all() const { return m_knew_all; }

  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() const {
    return {m_from.good, m_from.min, m_from.max};
  }
  /// Of all pixels, on the grid that the first median and the extremes make.
  [[nodiscard]] KOKKOS_FUNCTION ShortSums sums(const Interval<T>&, const Grid&) {
    if (m_has_summed) m_knew_all = false;
    m_has_summed = true;
    return {m_from.sum, m_from.squares, m_from.good, 0};
  }
  /// Of what `narrowed` has left.
  [[nodiscard]] KOKKOS_FUNCTION Extremes<T> extremes(const Interval<T>&) {
    if (m_below.empty() || m_above.empty()) m_knew_all = false;
    return m_knew_all ? Extremes<T>{m_below.outermost(), m_above.outermost()}
                      : Extremes<T>{m_from.min, m_from.max};
  }
  [[nodiscard]] KOKKOS_FUNCTION ShortSums narrowed(const ShortSums& all, const Interval<T>&,
                                                   const Interval<T>& to, const Grid& grid) {
    if (!(to.low <= m_from.core.low && to.high >= m_from.core.high)) m_knew_all = false;
    if (!m_knew_all) return {};
    CellSums gone;
    const int removed = m_below.remove(grid, gone, [&](T x) { return x <= to.low; });
    gone.below = static_cast<std::uint32_t>(removed);
    (void)m_above.remove(grid, gone, [&](T x) { return x >= to.high; });
    return without(all, gone);
  }

 private:
  const CellExcerpt<T>& m_from;
  TailRun<T, 1> m_below;
  TailRun<T, -1> m_above;
  bool m_has_summed = false;
  bool m_knew_all = true;
};

}  // namespace kastor::detail

#endif
