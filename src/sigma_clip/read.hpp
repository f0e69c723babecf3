// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_READ_HPP
#define KASTOR_SIGMA_CLIP_READ_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/bits.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/tile_list.hpp"
#include "core/tile_packs.hpp"
#include "sigma_clip/brackets.hpp"
#include "sigma_clip/segments.hpp"

/// The one read of the image: integer sums of the pixels between the edges; pixels of the window
/// and the tails are gathered; candidates for the foreground are marked.
namespace kastor::detail {

/// Sums over all pixels between the edges, in units of the brackets' grid.
struct InsideSums {
  static constexpr int max_repeated = Brackets<float>::max_repeated;
  std::int64_t inside = 0;
  std::int64_t below = 0;  ///< pixels between the edges that are below the window
  std::int64_t repeated[max_repeated] = {};
  core::Int128 sum, squares;
};

/// The same as words that all groups add to. A 128-bit sum is two words: the sum of the terms'
/// lower 32 bits and the sum of the rest.
struct InsideTotals {
  enum Word { inside, below, sum_low, sum_high, squares_low, squares_high, words };
  std::uint64_t word[words];
  std::uint64_t repeated[InsideSums::max_repeated];

  KOKKOS_FUNCTION void add(const std::int64_t (&some)[words]) {
    for (int k = 0; k < words; ++k) core::atomic_add(&word[k], static_cast<std::uint64_t>(some[k]));
  }
  [[nodiscard]] KOKKOS_FUNCTION InsideSums sums() const {
    InsideSums s;
    s.inside = static_cast<std::int64_t>(word[inside]);
    s.below = static_cast<std::int64_t>(word[below]);
    for (int i = 0; i < InsideSums::max_repeated; ++i)
      s.repeated[i] = static_cast<std::int64_t>(repeated[i]);
    s.sum = core::joined(word[sum_low], word[sum_high]);
    s.squares = core::joined(word[squares_low], word[squares_high]);
    return s;
  }
};

/// Reads a band; there are as many groups as segments.
template <class Exec, class T>
struct ReadImage {
  static constexpr int threads = 256;
  static constexpr int words_of_tile = 128;
  using Others = core::TileList<Exec, 2048>;
  static_assert(64 * words_of_tile <= Others::max_places);
  struct Space {
    typename Others::Space others;
    std::uint32_t gathered[Segment<T>::lists];
  };
  static constexpr int scratch_bytes = sizeof(Space);

  core::WordRows<T> rows;
  const Brackets<T>* brackets;
  Segments<T> segments;
  InsideTotals* totals;
  std::uint64_t* mask;  ///< words of the band's mask, all 0; null if no mask is wanted
  /// The group that takes the first tile: where many bands have few tiles, all groups take turns.
  std::int64_t first_group = 0;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    if (brackets->usable == 0) return;
    const Bounds b(*brackets);
    Space& space = *group.template scratch<Space>();
    const Segment<T> segment = segments[group.index()];
    // Earlier bands have filled part of the segment.
    group.for_each(int{Segment<T>::lists}, [&](int i) { space.gathered[i] = segment.counts[i]; });
    Others others(group, space.others);
    ThreadSums sums;
    const std::int64_t words = rows.words();
    const std::int64_t step = group.count() * words_of_tile;
    const std::int64_t turn = group.index() >= first_group
                                  ? group.index() - first_group
                                  : group.index() - first_group + group.count();
    for (std::int64_t tile = turn * words_of_tile; tile < words; tile += step) {
      const auto n = static_cast<int>(words - tile < words_of_tile ? words - tile : words_of_tile);
      const core::TilePacks<Exec, T> packs(rows, tile, n);
      TileSums of_tile;
      // Most pixels are only summed. The others, a few per cent, are handled one by one.
      const auto take = [&](int place, T x) {
        const bool in_window = b.in_window(x);
        of_tile.inside += in_window ? 1 : 0;
        if (!is_kept(b, x, in_window, sums)) return;
        const auto list = in_window ? Segment<T>::window : Segment<T>::tails;
        segment.put(list, group.fetch_add(space.gathered + list, 1U), x);
        if (mask != nullptr && x > b.candidate) mark(tile * 64 + place);
      };
      packs.for_each(
          group, [&](const auto& pack, int) { return add_inside(b, pack, of_tile); },
          [&](std::uint64_t bits, const auto& place_of, const auto& pixel_of) {
            others.add(bits, place_of, pixel_of, take);
          });
      others.share([&](int place) { take(place, packs.at(place)); });
      sums.add(of_tile);
    }
    group.barrier();
    add_to_totals(group, sums);
    group.for_each(int{Segment<T>::lists}, [&](int i) { segment.counts[i] = space.gathered[i]; });
  }

 private:
  /// The part of the brackets that the loop needs, in registers.
  struct Bounds {
    T low_edge, window_low, window_high, high_edge, centre, candidate;
    double middle, scale;
    bool counts_repeated;

    KOKKOS_FUNCTION explicit Bounds(const Brackets<T>& b)
        : low_edge(b.low_edge),
          window_low(b.window_low),
          window_high(b.window_high),
          high_edge(b.high_edge),
          centre(b.centre),
          candidate(b.candidate),
          middle(b.grid.centre),
          scale(b.grid.scale),
          counts_repeated(b.repeated > 0) {}
    [[nodiscard]] KOKKOS_FUNCTION double in_units(T x) const {
      return (static_cast<double>(x) - middle) * scale;
    }
    [[nodiscard]] KOKKOS_FUNCTION bool in_window(T x) const {
      return (x >= window_low) & (x <= window_high);
    }
  };

  /// Sums of one thread over one tile.
  struct TileSums {
    std::int32_t inside = 0, below = 0;
    std::int64_t sum = 0, squares = 0;
  };
  static_assert(64 * words_of_tile < core::max_grid_terms);
  /// Sums of one thread over all its tiles.
  struct ThreadSums {
    std::int64_t inside = 0, below = 0;
    core::Int128 sum, squares;
    std::uint32_t repeated[InsideSums::max_repeated] = {};

    KOKKOS_FUNCTION void add(const TileSums& tile) {
      inside += tile.inside;
      below += tile.below;
      sum.add(tile.sum);
      squares.add(tile.squares);
    }
  };

  KOKKOS_FUNCTION void add_to_totals(const core::Group<Exec>& group, const ThreadSums& mine) const {
    std::int64_t words[InsideTotals::words] = {};
    words[InsideTotals::inside] = mine.inside;
    words[InsideTotals::below] = mine.below;
    words[InsideTotals::sum_low] = core::lower_part(mine.sum);
    words[InsideTotals::sum_high] = core::upper_part(mine.sum);
    words[InsideTotals::squares_low] = core::lower_part(mine.squares);
    words[InsideTotals::squares_high] = core::upper_part(mine.squares);
    group.sum_words(words);
    if (group.rank() == 0) totals->add(words);
    for (int i = 0; i < brackets->repeated; ++i) {
      std::int64_t n[] = {mine.repeated[i]};
      group.sum_words(n);
      if (group.rank() == 0)
        core::atomic_add(&totals->repeated[i], static_cast<std::uint64_t>(n[0]));
    }
  }
  /// Sums the pixels between the edges; each loop handles a single type. All other pixels are
  /// replaced by the centre, which adds nothing to the sums. Pixels of the window are summed here
  /// but not counted. One grid is enough for sums and squares: the edges are within six sigmas, so
  /// squares are far above its step (`core::Grid::single_step`).
  /// \return the bits of the pixels beyond the edges or in the window. If there are few of them,
  /// blank pixels are not removed.
  template <class Pack>
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static std::uint64_t add_inside(const Bounds& b,
                                                                            const Pack& pack,
                                                                            TileSums& sums) {
    constexpr int width = Pack::width;
    core::Pack<T, width> inside;
    // Local copies: no store can change them, so the loops vectorise.
    const T low = b.low_edge, window_low = b.window_low, window_high = b.window_high,
            high = b.high_edge, centre = b.centre;
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j) {
      const T x = pack.pixel[j];
      inside.pixel[j] = ((x > low) & (x < high)) ? x : centre;
    }
    std::uint64_t others =
        core::bits_where(inside, [=](T x) { return (x >= window_low) & (x <= window_high); });
    const int n = core::popcount(others);
    sums.inside += width - n;
    sums.below += core::count_where(inside, [=](T x) { return x < window_low; });
    std::uint64_t sum = 0, squares = 0;
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j) {
      const double u = b.in_units(inside.pixel[j]);
      sum += core::to_grid_biased(u);
      squares += core::to_grid_biased(u * u);
    }
    sums.sum += core::unbias(sum, width);
    sums.squares += core::unbias(squares, width);
    if (n > width / 4) others &= core::bits_where(pack, [](T x) { return x == x; });
    return others;
  }

  /// Whether a pixel beyond the edges or in the window is gathered. Repeated values are counted
  /// instead.
  [[nodiscard]] KOKKOS_FUNCTION bool is_kept(const Bounds& b, T x, bool in_window,
                                             ThreadSums& sums) const {
    if (!b.counts_repeated || !in_window) return core::is_finite(x);
    for (int i = 0; i < brackets->repeated; ++i) {
      if (x != brackets->value_of[i]) continue;
      ++sums.repeated[i];
      return false;
    }
    return true;
  }

  /// Sets bit `place % 64` of word `place / 64` of the band's mask.
  KOKKOS_FUNCTION void mark(std::int64_t place) const {
    core::atomic_set_bits(&mask[place / 64], std::uint64_t{1} << (place % 64));
  }
};

}  // namespace kastor::detail

#endif
