// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_CELL_PASSES_HPP
#define KASTOR_BACKGROUND_CELL_PASSES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "background/cell_pixels.hpp"
#include "core/bits.hpp"
#include "core/fixed_point.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/intrinsics.hpp"
#include "core/ordered_key.hpp"
#include "core/pack.hpp"

/// What a group finds out in one pass over all pixels of a source. All threads must call these
/// functions; all get the same answer, which does not depend on the order of the pixels.
namespace kastor::detail {

// ------------------------------------------------------------------------------------- extremes

/// Count, minimum and maximum of the pixels that are not NaN, for one thread. There is one minimum
/// and one maximum for each place of a pack, since a CPU compiler does not vectorise the minimum of
/// a single variable.
template <class Source>
class ThreadExtent {
  using T = typename Source::Pixel;
  using Pack = typename Source::Pack;

 public:
  KOKKOS_FUNCTION ThreadExtent() {
    for (int j = 0; j < Pack::width; ++j) {
      m_min.pixel[j] = Kokkos::Experimental::infinity_v<T>;
      m_max.pixel[j] = -Kokkos::Experimental::infinity_v<T>;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const Pack& pack) {
    for (int j = 0; j < Pack::width; ++j) {
      const T x = pack.pixel[j];
      m_min.pixel[j] = x < m_min.pixel[j] ? x : m_min.pixel[j];
      m_max.pixel[j] = x > m_max.pixel[j] ? x : m_max.pixel[j];
    }
    m_count += core::count_where(pack, [](T x) { return x == x; });
  }
  [[nodiscard]] KOKKOS_FUNCTION core::MinMaxCount<T> all() const {
    core::MinMaxCount<T> all;
    all.count = m_count;
    for (int j = 0; j < Pack::width; ++j) {
      all.min = m_min.pixel[j] < all.min ? m_min.pixel[j] : all.min;
      all.max = m_max.pixel[j] > all.max ? m_max.pixel[j] : all.max;
    }
    return all;
  }

 private:
  Pack m_min, m_max;
  typename Source::Index m_count = 0;
};

/// Count, minimum and maximum of the pixels in an interval.
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION core::MinMaxCount<T> extent_of(const core::Group<Exec>& group,
                                                             const Source& pixels,
                                                             const core::Interval<T>& interval) {
  using Pack = typename Source::Pack;
  ThreadExtent<Source> mine;
  pixels.for_each_pack([&](const auto& pack) {
    Pack inside;
    for (int j = 0; j < Pack::width; ++j)
      inside.pixel[j] =
          interval.contains(pack.pixel[j]) ? pack.pixel[j] : Kokkos::Experimental::quiet_NaN_v<T>;
    mine.add(inside);
  });
  return group.sum(mine.all());
}

/// Copies the pixels to scratch memory, which needs `ScratchPixels::room_for(pixels.count())`
/// elements. Returns the extent of the good pixels.
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION core::MinMaxCount<T> stage(const core::Group<Exec>& group,
                                                         const Source& pixels, T* scratch) {
  using Pack = typename Source::Pack;
  using Index = typename Source::Index;
  ThreadExtent<Source> mine;
  pixels.for_each_place([&](const Pack& pack, Index at, Index n) {
    mine.add(pack);
    T* const to = scratch + at;
    if (n == Pack::width && core::is_aligned(to)) return pack.store(to);
    KASTOR_UNROLL
    for (int j = 0; j < Pack::width; ++j)
      if (j < n) to[j] = pack.pixel[j];
  });
  return group.sum(mine.all());
}

// --------------------------------------------------------------------------------------- counts

/// Two counts below 2^31 in one word, so that a group adds up both at once.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t pair_of_counts(int first, int second) {
  return std::int64_t{first} | std::int64_t{second} << 32;
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t first_count(std::int64_t pair) {
  return pair & 0xffffffff;
}
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::int64_t second_count(std::int64_t pair) {
  return pair >> 32;
}

/// Number of pixels below a threshold, and below a higher one.
template <class Index = std::int64_t>
struct CountsBelow {
  Index low = 0, high = 0;
};

template <class Exec, class Index>
[[nodiscard]] KOKKOS_FUNCTION CountsBelow<> sum_of_group(const core::Group<Exec>& group,
                                                         const CountsBelow<Index>& mine) {
  if constexpr (sizeof(Index) == 4) {  // both in one word
    std::int64_t both[] = {pair_of_counts(mine.low, mine.high)};
    group.sum_words(both);
    return {first_count(both[0]), second_count(both[0])};
  } else {
    std::int64_t words[] = {mine.low, mine.high};
    group.sum_words(words);
    return {words[0], words[1]};
  }
}

template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION CountsBelow<> count_below(const core::Group<Exec>& group,
                                                        const Source& pixels, T low, T high) {
  CountsBelow<typename Source::Index> mine;
  pixels.for_each_pack([&](const auto& pack) {
    mine.low += core::count_where(pack, [&](T x) { return x < low; });
    mine.high += core::count_where(pack, [&](T x) { return x < high; });
  });
  return sum_of_group(group, mine);
}

/// The smallest pixel that is at least `bound`.
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION T smallest_from(const core::Group<Exec>& group, const Source& pixels,
                                              T bound) {
  const core::Interval<T> from{core::next_below(bound), Kokkos::Experimental::infinity_v<T>};
  return extent_of(group, pixels, from).min;
}

// ---------------------------------------------------------------------------------------- lists

/// A list of pixels in scratch memory, in any order.
template <class T, int room_>
struct PixelList {
  static constexpr int room = room_;
  static_assert(room % 64 == 0);  // whole packs
  alignas(16) T pixels[room];
  int count;

  template <class Exec>
  KOKKOS_FUNCTION void clear(const core::Group<Exec>& group) {
    group.barrier();  // the previous list has been read
    if (group.rank() == 0) count = 0;
    group.barrier();
  }
  /// Adds the pixels whose bits are set. If they do not fit, `count` is above `room` afterwards.
  template <class Exec, class PixelOf>
  KOKKOS_FUNCTION void append(const core::Group<Exec>& group, std::uint64_t bits,
                              const PixelOf& pixel_of) {
    if (core::relaxed_load(&count) > room) return;
    int at = group.fetch_add(&count, core::popcount(bits));
    for (; bits != 0 && at < room; bits &= bits - 1)
      pixels[at++] = pixel_of(core::countr_zero(bits));
  }
};

/// Like `count_below`; also lists the pixels with low <= x < high, if they fit.
template <class Exec, class Source, class T, int room>
[[nodiscard]] KOKKOS_FUNCTION CountsBelow<> take_between(const core::Group<Exec>& group,
                                                         const Source& pixels, T low, T high,
                                                         PixelList<T, room>& list) {
  list.clear(group);
  CountsBelow<typename Source::Index> mine;
  pixels.for_each_marked(
      [&](const auto& pack) {
        mine.low += core::count_where(pack, [&](T x) { return x < low; });
        return core::bits_where(pack, [&](T x) { return (x >= low) & (x < high); });
      },
      [&](std::uint64_t bits, const auto& pixel_of) {
        mine.high += core::popcount(bits);
        list.append(group, bits, pixel_of);
      });
  mine.high += mine.low;
  group.barrier();
  return sum_of_group(group, mine);
}

/// Lists the pixels that are not in an interval. False if they do not fit.
template <class Exec, class Source, class T, int room>
[[nodiscard]] KOKKOS_FUNCTION bool take_outside(const core::Group<Exec>& group,
                                                const Source& pixels,
                                                const core::Interval<T>& interval,
                                                PixelList<T, room>& list) {
  list.clear(group);
  const T low = interval.low, high = interval.high;
  pixels.for_each_marked(
      [&](const auto& pack) {
        return core::bits_where(pack, [&](T x) { return (x <= low) | (x >= high); });
      },
      [&](std::uint64_t bits, const auto& pixel_of) { list.append(group, bits, pixel_of); });
  group.barrier();
  return list.count <= room;
}

/// Takes `size` pixels of a source, evenly spaced; NaN in place of those that are not good.
template <int size, class Exec, class Source, class T>
KOKKOS_FUNCTION void sample(const core::Group<Exec>& group, const Source& pixels, T* to) {
  group.for_each(size, [&](int i) { to[i] = pixels[pixels.count() * (2 * i + 1) / (2 * size)]; });
}

/// A few pixels in ascending order, without NaN. Equal pixels share the first of their places.
/// Zeros are stored as +0, so that threads that write to the same place write the same value.
template <class T, int room>
struct SortedPixels {
  T place[room];

  /// All threads of the group must call it. n <= room.
  template <class Exec>
  KOKKOS_FUNCTION void sort(const core::Group<Exec>& group, const T* pixels, int n) {
    constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;
    group.for_each(n, [&](int i) { place[i] = nan; });
    group.barrier();
    group.for_each(n, [&](int i) {
      const T x = pixels[i];
      core::Key<T> before = 0;
      KASTOR_UNROLL_BY_8
      for (int j = 0; j < n; ++j) before += pixels[j] < x ? 1 : 0;
      if (x == x) core::relaxed_store(place + before, core::without_sign_of_zero(x));
    });
    group.barrier();
  }
  [[nodiscard]] KOKKOS_FUNCTION T operator[](std::int64_t i) const {
    while (place[i] != place[i]) --i;
    return place[i];
  }
};

// ----------------------------------------------------------------------------------------- sums

/// Sums of pixels, on a grid.
struct GridSums {
  core::Int128 sum, squares;
  std::int64_t count = 0;
  std::int64_t below = 0;  ///< pixels below the inner interval
};

/// The same for one thread, with integers as wide as its source requires.
template <class Source>
struct ThreadSums {
  typename Source::Integer sum{}, squares{};
  typename Source::Index count = 0, below = 0;
};

KOKKOS_INLINE_FUNCTION void add_to(std::int64_t& sum, std::int64_t value) { sum += value; }
KOKKOS_INLINE_FUNCTION void add_to(core::Int128& sum, std::int64_t value) { sum.add(value); }

template <class Exec, class Source>
[[nodiscard]] KOKKOS_FUNCTION GridSums sum_of_group(const core::Group<Exec>& group,
                                                    const ThreadSums<Source>& mine) {
  if constexpr (std::is_same_v<typename Source::Integer, std::int64_t>) {
    std::int64_t words[] = {mine.sum, mine.squares, pair_of_counts(mine.count, mine.below)};
    group.sum_words(words);
    GridSums all{{}, {}, first_count(words[2]), second_count(words[2])};
    all.sum.add(words[0]);
    all.squares.add(words[1]);
    return all;
  } else {
    std::int64_t words[] = {core::lower_part(mine.sum),
                            core::upper_part(mine.sum),
                            core::lower_part(mine.squares),
                            core::upper_part(mine.squares),
                            mine.count,
                            mine.below};
    group.sum_words(words);
    const auto joined = [&](int i) {
      return core::joined(static_cast<std::uint64_t>(words[i]),
                          static_cast<std::uint64_t>(words[i + 1]));
    };
    return {joined(0), joined(2), words[4], words[5]};
  }
}

/// Adds the pixels of a pack for which `is_so` holds; the others are replaced by the grid's centre,
/// which is 0 on the grid.
template <class Pack, class Condition, class Source>
KOKKOS_FORCEINLINE_FUNCTION void add_where(const Pack& pack, const Condition& is_so,
                                           const core::Grid& grid, ThreadSums<Source>& sums) {
  using T = std::remove_cvref_t<decltype(pack.pixel[0])>;
  constexpr int width = Pack::width;
  const T centre = static_cast<T>(grid.centre);
  core::Pack<T, width> x;
  for (int j = 0; j < width; ++j) x.pixel[j] = is_so(pack.pixel[j]) ? pack.pixel[j] : centre;
  std::uint64_t sum = 0, squares = 0;
  for (int j = 0; j < width; ++j) {
    const double u = grid.map(static_cast<double>(x.pixel[j]));
    sum += core::to_grid_biased(u);
    squares += core::to_grid_biased(u * u);
  }
  add_to(sums.sum, core::unbias(sum, width));
  add_to(sums.squares, core::unbias(squares, width));
}

/// The sums over the pixels of an interval, without the counts.
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION GridSums sums_within(const core::Group<Exec>& group,
                                                   const Source& pixels,
                                                   const core::Interval<T>& interval,
                                                   const core::Grid& grid) {
  ThreadSums<Source> mine;
  pixels.for_each_pack([&](const auto& pack) {
    add_where(
        pack, [&](T x) { return interval.contains(x); }, grid, mine);
  });
  return sum_of_group(group, mine);
}

/// The sums of the pixels that are in one interval but not in the other.
template <class Exec, class Source, class T>
[[nodiscard]] KOKKOS_FUNCTION GridSums sums_between(const core::Group<Exec>& group,
                                                    const Source& pixels,
                                                    const core::Interval<T>& outer,
                                                    const core::Interval<T>& inner,
                                                    const core::Grid& grid) {
  ThreadSums<Source> mine;
  pixels.for_each_pack([&](const auto& pack) {
    const auto is_between = [&](T x) {
      return ((outer.contains(x) ? 1 : 0) & (inner.contains(x) ? 0 : 1)) != 0;
    };
    const int count = core::count_where(pack, is_between);
    if (count == 0) return;
    mine.count += count;
    mine.below += core::count_where(pack, [&](T x) { return (x > outer.low) & (x <= inner.low); });
    add_where(pack, is_between, grid, mine);
  });
  return sum_of_group(group, mine);
}

}  // namespace kastor::detail

#endif
