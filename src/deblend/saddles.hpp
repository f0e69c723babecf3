// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_SADDLES_HPP
#define KASTOR_DEBLEND_SADDLES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/intrinsics.hpp"
#include "core/ordered_key.hpp"
#include "deblend/basins.hpp"
#include "deblend/flat_pixels.hpp"

/// Finds where basins meet: for each two that touch, the highest pixel that touches a higher one of
/// the other. The pairs are kept in a hash table; two rounds of maxima make it independent of the
/// order: first the deviation, then the first pixel that has it.
namespace kastor::detail {

/// Calls `visit(i, basin, other)` for the pixels of a piece that touch a higher one of another
/// basin of their island.
template <class Exec>
struct Borders {
  FlatPixels pixels;
  bool at_corners;
  const double* deviations;
  const std::uint32_t* basin_of;
  const Basin* basins;

  template <class Visit>
  KOKKOS_FUNCTION void visit(std::int64_t piece, const Visit& visit) const {
    WordPieces<Exec>::visit(pixels, piece, [&](std::uint32_t i, std::int64_t y, std::int64_t x) {
      const std::uint32_t basin = basin_of[i];
      std::uint32_t last = basin;
      pixels.visit_neighbours(
          i, y, x, at_corners, [&](std::uint32_t j, std::int64_t, std::int64_t, bool by_corner) {
            const std::uint32_t other = basin_of[j];
            if (other == basin || other == last) return;
            if (!is_above(deviations[j], j, deviations[i], i)) return;
            if (by_corner && basins[other].peak.label != basins[basin].peak.label) return;
            last = other;
            visit(i, basin, other);
          });
    });
  }
};

/// The pixel at which two basins meet.
struct Saddle {
  double deviation;
  std::uint32_t pixel;
  std::uint32_t high, low;  ///< numbers of the basins; high < low
  std::uint32_t label;
};
/// By island, the highest first; of those of one pixel, by the basins.
struct HigherSaddle {
  KOKKOS_FUNCTION bool operator()(const Saddle& a, const Saddle& b) const {
    if (a.label != b.label) return a.label < b.label;
    if (a.pixel != b.pixel) return is_above(a.deviation, a.pixel, b.deviation, b.pixel);
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

struct SaddleCounts {
  std::uint32_t pairs;
  std::uint32_t is_full;  ///< not 0: a pair found no place
};

/// The table. It has 2^bits places.
struct SaddleTable {
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  static constexpr int most_steps = 512;
  std::uint64_t* pairs;
  std::uint64_t* keys;    ///< `key_of` the deviation
  std::uint32_t* pixels;  ///< the first pixel of that deviation
  std::uint32_t* places;  ///< of the pairs, in any order
  SaddleCounts* counts;
  int bits;

  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t pair_of(std::uint32_t a, std::uint32_t b) {
    return a < b ? std::uint64_t{a} << 32 | b : std::uint64_t{b} << 32 | a;
  }
  KOKKOS_FUNCTION void clear(std::int64_t place) const {
    pairs[place] = nobody;
    keys[place] = 0;
    pixels[place] = ~std::uint32_t{0};
    if (place == 0) *counts = {0, 0};
  }
  /// The place of a pair, which may be a new one; < 0 if the table is too full.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t place_of(std::uint64_t pair) const {
    std::uint64_t at = pair * 0x9e3779b97f4a7c15U >> (64 - bits);
    for (int step = 0; step < most_steps; ++step) {
      std::uint64_t seen = core::relaxed_load(pairs + at);
      if (seen == nobody) {
        seen = Kokkos::atomic_compare_exchange(pairs + at, nobody, pair);
        if (seen == nobody) {
          places[Kokkos::atomic_fetch_add(&counts->pairs, 1U)] = static_cast<std::uint32_t>(at);
          return static_cast<std::int64_t>(at);
        }
      }
      if (seen == pair) return static_cast<std::int64_t>(at);
      at = (at + 1) & ((std::uint64_t{1} << bits) - 1);
    }
    core::atomic_raise(&counts->is_full, 1U);
    return -1;
  }
};

struct ClearTable {
  SaddleTable table;
  KOKKOS_FUNCTION void operator()(std::int64_t place) const { table.clear(place); }
};

template <class Exec>
struct RaiseSaddles {
  Borders<Exec> borders;
  SaddleTable table;
  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    borders.visit(piece, [&](std::uint32_t i, std::uint32_t a, std::uint32_t b) {
      const std::int64_t place = table.place_of(SaddleTable::pair_of(a, b));
      if (place >= 0) core::atomic_raise(table.keys + place, core::key_of(borders.deviations[i]));
    });
  }
};

template <class Exec>
struct FindSaddlePixels {
  Borders<Exec> borders;
  SaddleTable table;
  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    if (table.counts->is_full != 0) return;
    borders.visit(piece, [&](std::uint32_t i, std::uint32_t a, std::uint32_t b) {
      const std::int64_t place = table.place_of(SaddleTable::pair_of(a, b));
      if (place >= 0 && table.keys[place] == core::key_of(borders.deviations[i]))
        core::atomic_lower(table.pixels + place, i);
    });
  }
};

/// Makes a list of the table.
struct ListSaddles {
  SaddleTable table;
  const double* deviations;
  const Basin* basins;
  Saddle* saddles;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t place = table.places[i];
    const std::uint64_t pair = table.pairs[place];
    const auto high = static_cast<std::uint32_t>(pair >> 32),
               low = static_cast<std::uint32_t>(pair);
    const std::uint32_t pixel = table.pixels[place];
    saddles[i] = {deviations[pixel], pixel, high, low, basins[high].peak.label};
  }
};

// ------------------------------------------------------------------------------ too many basins

/// Of an island with more basins than `most`, only the highest remain. Rounds: a lower one joins
/// the highest basin that it touches, if that is higher than itself.
struct MergeLowest {
  const std::uint32_t* first_of_island;
  std::uint32_t most;
  [[nodiscard]] KOKKOS_FUNCTION bool is_low(const Basin& basin, std::uint32_t number) const {
    return number - first_of_island[basin.peak.label - 1] >= most;
  }
};

template <class Exec>
struct LinkLowest {
  Borders<Exec> borders;
  MergeLowest rule;
  Basin* basins;
  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    borders.visit(piece, [&](std::uint32_t, std::uint32_t a, std::uint32_t b) {
      const std::uint32_t high = a < b ? a : b, low = a < b ? b : a;
      if (rule.is_low(basins[low], low)) core::atomic_lower(&basins[low].tree, high);
    });
  }
};

/// Moves pixels along the links of a round.
struct MoveLowest {
  FlatPixels pixels;
  const Basin* basins;
  std::uint32_t* basin_of;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i >= pixels.count()) return;
    std::uint32_t b = basin_of[i];
    while (basins[b].tree != b) b = basins[b].tree;
    basin_of[i] = b;
  }
};

/// Counts the low basins that remain.
struct CountLowest {
  using value_type = std::int64_t;
  MergeLowest rule;
  const Basin* basins;
  KOKKOS_FUNCTION void operator()(std::int64_t b, value_type& n) const {
    const auto number = static_cast<std::uint32_t>(b);
    n += basins[b].tree == number && rule.is_low(basins[b], number) ? 1 : 0;
  }
};

}  // namespace kastor::detail

#endif
