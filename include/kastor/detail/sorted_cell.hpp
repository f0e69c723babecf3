// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SORTED_CELL_HPP
#define KASTOR_DETAIL_SORTED_CELL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_population.hpp>
#include <kastor/detail/cell_reader.hpp>
#include <kastor/detail/cell_sums.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/rank_window.hpp>
#include <kastor/detail/sort_by_crew.hpp>
#include <kastor/detail/warp_crew.hpp>

namespace kastor::detail {

/// Answers as a StreamedCell does, of a cell of at most `most_pixels`, which a device's team puts
/// in order in its scratch memory. That takes longer than a DeviceCell needs for its lists, but
/// then every question is a look-up, however many pixels a clip cuts.
template <class Member, int Threads, class T>
class SortedCell {
 public:
  using Crew = WarpCrew<Member, Threads>;
  /// Of a thread.
  static constexpr int each = 128 / static_cast<int>(sizeof(T));
  static constexpr int most_pixels = each * Threads;
  struct Task {
    Grid grid;
    int begin, end;  ///< of the pixels to be added up; equal: nothing is left to do
  };
  struct Space {
    Task task;
    SortRoom<each, Threads, T> room;
  };

  class Ranks {
   public:
    KOKKOS_FUNCTION Ranks(const SortedCell& cell, const Extent<T>&) : m_cell(cell) {}
    [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) const {
      const auto at = static_cast<int>(k);
      return {m_cell.m_space.room.at(at), m_cell.m_space.room.at(two ? at + 1 : at)};
    }

   private:
    const SortedCell& m_cell;
  };

  KOKKOS_FUNCTION SortedCell(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                             Space& space)
      : m_crew(crew), m_space(space) {
    PixelsOfThread<each, T> mine;
    read(CellReader<T>(image, cell, crew.rank(), Threads, nullptr), mine.pixel);
    int good = 0;
    KASTOR_UNROLL
    for (int i = 0; i < each; ++i) {
      const bool is_good = mine.pixel[i] == mine.pixel[i];
      good += is_good ? 1 : 0;
      mine.pixel[i] = is_good ? mine.pixel[i] : Kokkos::Experimental::infinity_v<T>;
    }
    m_end = m_crew.sum(good);
    sort_by_crew(crew, mine, space.room);
  }

  /// The first warp asks, the others help it until they are dismissed.
  [[nodiscard]] KOKKOS_FUNCTION bool asks() const { return m_crew.rank() < Crew::warp_size(); }
  KOKKOS_FUNCTION void dismiss() const { assign({Grid(), 0, 0}); }
  KOKKOS_FUNCTION void help() const {
    for (;;) {
      m_crew.barrier();
      if (m_space.task.begin == m_space.task.end) return;
      (void)add_up();
    }
  }

  /// Of all good pixels.
  [[nodiscard]] KOKKOS_FUNCTION Extent<T> extent() const {
    if (m_end == 0) return {0, T{}, T{}};
    return {m_end, m_space.room.at(0), m_space.room.at(m_end - 1)};
  }
  /// Of what `narrowed` has left, and so are the others.
  [[nodiscard]] KOKKOS_FUNCTION Extremes<T> extremes(const Interval<T>&) const {
    return {m_space.room.at(m_begin), m_space.room.at(m_end - 1)};
  }

  [[nodiscard]] KOKKOS_FUNCTION ShortSums sums(const Interval<T>&, const Grid& grid) {
    assign({grid, m_begin, m_end});
    const GridSums all = add_up();
    return {all.sum, all.squares, m_end - m_begin, m_begin};
  }

  /// Those of `to`, which lies within the interval before: from both ends inwards what leaves is
  /// taken off, as many pixels at once as a warp has threads.
  [[nodiscard]] KOKKOS_FUNCTION ShortSums narrowed(const ShortSums& all, const Interval<T>&,
                                                   const Interval<T>& to, const Grid& grid) {
    GridSums gone;
    bool more = true;
    KASTOR_KEEP_LOOP
    while (more) {
      const int i = m_begin + m_crew.rank_in_warp(), j = m_end - 1 - m_crew.rank_in_warp();
      const T x = i < m_end ? m_space.room.at(i) : to.high;
      const T y = j >= m_begin ? m_space.room.at(j) : to.low;
      const bool is_below = x <= to.low, is_above = y >= to.high;
      take_off(is_below, x, grid, gone);
      take_off(is_above, y, grid, gone);
      const CellCountsBelow leave =
          m_crew.sum_of_warp(CellCountsBelow{is_below ? 1U : 0U, is_above ? 1U : 0U});
      m_begin += static_cast<int>(leave.low);
      m_end -= static_cast<int>(leave.middle);
      constexpr std::uint32_t places = Crew::warp_size();
      more = leave.low == places || leave.middle == places;
    }
    gone = m_crew.sum_of_warp(gone);
    return {all.sum - gone.sum, all.squares - gone.squares, m_end - m_begin, m_begin};
  }

 private:
  KOKKOS_FUNCTION void read(const CellReader<T>& reader, T (&pixels)[each]) const {
    if (reader.has_packs()) return reader.take_packs(pixels);
    T* const first = m_space.room.pixels + m_crew.rank();
    int n = 0;
    reader.for_each_of_mine([&](T x) { first[n++ * Threads] = x; });
    KASTOR_UNROLL
    for (int i = 0; i < each; ++i)
      pixels[i] = i < n ? first[i * Threads] : Kokkos::Experimental::quiet_NaN_v<T>;
  }
  KOKKOS_FUNCTION void assign(const Task& task) const {
    if (m_crew.rank() == 0) m_space.task = task;
    m_crew.barrier();
  }
  KOKKOS_FUNCTION static void take_off(bool leaves, T x, const Grid& grid, GridSums& gone) {
    const double u = grid.map(static_cast<double>(x));
    gone.sum += leaves ? unbias(to_grid_biased(u), 1) : 0;
    gone.squares += leaves ? unbias(to_grid_biased(u * u), 1) : 0;
  }
  /// As the task says.
  [[nodiscard]] KOKKOS_FUNCTION GridSums add_up() const {
    const Task task = m_space.task;
    const T* const own = m_space.room.of_thread(m_crew.rank());
    const int begin = task.begin - m_crew.rank() * each, end = task.end - m_crew.rank() * each;
    const GridTerms<T> terms(task.grid);
    const auto centre = static_cast<T>(task.grid.centre);
    typename GridTerms<T>::Sums sums;
    constexpr int chunk = 8;
    static_assert(each % chunk == 0 && each <= GridTerms<T>::most_terms);
    KASTOR_KEEP_LOOP
    for (int first = 0; first < each; first += chunk) {
      T pixels[chunk];
      KASTOR_UNROLL
      for (int k = 0; k < chunk; ++k) {
        const int i = first + k;
        pixels[k] = ((i >= begin) & (i < end)) ? own[i] : centre;
      }
      terms.add(pixels, sums);
    }
    return m_crew.sum(GridSums{terms.in_steps(sums.sum), terms.in_steps(sums.squares)});
  }

  const Crew& m_crew;
  Space& m_space;
  int m_begin = 0, m_end = 0;  ///< of the pixels that are left
};

}  // namespace kastor::detail

#endif
