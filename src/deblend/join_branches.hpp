// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_JOIN_BRANCHES_HPP
#define KASTOR_DEBLEND_JOIN_BRANCHES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/deblend.hpp>

#include "deblend/basins.hpp"
#include "deblend/saddles.hpp"

/// Joins basins into branches that stand for themselves: one lane an island, down its saddles.
namespace kastor::detail {

/// The part of a sorted list that is of one island.
struct PartOfIsland {
  std::uint32_t first = 0, past = 0;
};

/// Finds the parts of a list sorted by island.
template <class V>
struct FindParts {
  const V* list;
  std::int64_t count;
  PartOfIsland* parts;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t label = list[i].label;
    const auto number = static_cast<std::uint32_t>(i);
    if (i == 0 || list[i - 1].label != label) parts[label - 1].first = number;
    if (i == count - 1 || list[i + 1].label != label) parts[label - 1].past = number + 1;
  }
};
struct ClearParts {
  PartOfIsland *saddles, *pixels;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { saddles[i] = pixels[i] = {}; }
};

/// A pixel of an island with more than one basin.
struct PixelByHeight {
  double deviation;
  std::uint32_t pixel;
  std::uint32_t label;
};
struct HigherPixel {
  KOKKOS_FUNCTION bool operator()(const PixelByHeight& a, const PixelByHeight& b) const {
    if (a.label != b.label) return a.label < b.label;
    return is_above(a.deviation, a.pixel, b.deviation, b.pixel);
  }
};
/// A scan over blocks of pixels that lists those whose island has more than one basin.
struct ListPixels {
  using value_type = std::uint64_t;
  static constexpr std::int64_t pixels_at_once = 32;
  FlatPixels pixels;
  std::int64_t room;  ///< of the list
  const double* deviations;
  const std::uint32_t* basin_of;
  const Basin* basins;
  const std::uint32_t* first_of_island;
  PixelByHeight* list;
  std::uint64_t* count;  ///< in memory that the host reads

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t blocks() const {
    return (room - 1) / pixels_at_once + 1;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t block, value_type& sum, bool is_final) const {
    const std::int64_t n = pixels.count(), end = (block + 1) * pixels_at_once;
    for (std::int64_t i = block * pixels_at_once; i < (end < n ? end : n); ++i) {
      const std::uint32_t label = basins[basin_of[i]].peak.label;
      if (first_of_island[label] - first_of_island[label - 1] < 2) continue;
      if (is_final) list[sum] = {deviations[i], static_cast<std::uint32_t>(i), label};
      ++sum;
    }
    if (is_final && block == blocks() - 1) *count = sum;
  }
};

/// Whether a rule needs to know the pixels of a branch above a saddle.
[[nodiscard]] inline bool asks_for_pixels(const DeblendParams& params) {
  return params.contrast > 0 || params.min_pixels > 1;
}

struct JoinBranches {
  DeblendParams params;
  Basin* basins;
  const Saddle* saddles;
  const PartOfIsland* saddles_of;
  const PixelByHeight* pixels;  ///< sorted; used only if a rule `asks_for_pixels`
  const PartOfIsland* pixels_of;
  const std::uint32_t* basin_of;

  KOKKOS_FUNCTION void operator()(std::int64_t island) const {
    const PartOfIsland of_saddles = saddles_of[island], of_pixels = pixels_of[island];
    if (of_saddles.first == of_saddles.past) return;
    double least_light = 0;
    for (std::uint32_t i = of_pixels.first; i < of_pixels.past; ++i)
      least_light += pixels[i].deviation;
    least_light *= params.contrast;
    std::uint32_t next = of_pixels.first;
    for (std::uint32_t i = of_saddles.first; i < of_saddles.past; ++i) {
      const Saddle saddle = saddles[i];
      for (; next < of_pixels.past && is_over(pixels[next], saddle); ++next) pass(pixels[next]);
      meet(saddle, least_light);
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static bool is_over(const PixelByHeight& pixel,
                                                    const Saddle& saddle) {
    return is_above(pixel.deviation, pixel.pixel, saddle.deviation, saddle.pixel);
  }
  KOKKOS_FUNCTION void pass(const PixelByHeight& pixel) const {
    Basin& branch = basins[find<&Basin::owner>(basin_of[pixel.pixel])];
    branch.light += pixel.deviation;
    ++branch.passed;
  }

  KOKKOS_FUNCTION void meet(const Saddle& saddle, double least_light) const {
    const std::uint32_t a = find<&Basin::tree>(saddle.high), b = find<&Basin::tree>(saddle.low);
    if (a == b) return;
    const std::uint32_t top = a < b ? a : b, low = a < b ? b : a;
    basins[low].tree = top;
    if (stands(basins[top], saddle.deviation, least_light) &&
        stands(basins[low], saddle.deviation, least_light)) {
      basins[low].saddle = saddle.deviation;
      return;
    }
    join(low, find<&Basin::owner>(low == a ? saddle.low : saddle.high));
  }

  /// Whether a branch that is above a saddle may stand for itself.
  [[nodiscard]] KOKKOS_FUNCTION bool stands(const Basin& branch, double saddle,
                                            double least_light) const {
    const double height = branch.peak.deviation - saddle;
    const double light = branch.light - static_cast<double>(branch.passed) * saddle;
    return height > 0 && height >= params.prominence * branch.rms &&
           branch.peak.deviation >= params.min_peak * branch.rms &&
           (params.min_pixels == 1 || branch.passed >= params.min_pixels) &&
           branch.n_pix >= params.min_size && (params.contrast == 0 || light > least_light);
  }

  /// Branch a becomes part of the branch on the other side of a saddle. The higher of both peaks is
  /// that of the whole.
  KOKKOS_FUNCTION void join(std::uint32_t a, std::uint32_t other) const {
    const std::uint32_t high = a < other ? a : other, low = a < other ? other : a;
    basins[low].owner = high;
    basins[high].saddle = basins[other].saddle;
    basins[high].n_pix += basins[low].n_pix;
    basins[high].light += basins[low].light;
    basins[high].passed += basins[low].passed;
    basins[low].n_pix = 0;
  }

  /// The highest basin of a set. Only one lane follows the links of an island.
  template <std::uint32_t Basin::*link>
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t find(std::uint32_t b) const {
    while (basins[b].*link != b) {
      const std::uint32_t up = basins[b].*link;
      basins[b].*link = basins[up].*link;
      b = up;
    }
    return b;
  }
};

/// A row as the device makes it.
struct PeakRow {
  double deviation, rms, saddle;
  std::int64_t n_pix;
  std::uint32_t label, basins;  ///< its island, and how many basins that has
  std::int32_t x, y;
};

/// A scan over the basins: rows of those that stand for themselves, and their numbers from 1.
struct MakePeakRows {
  using value_type = std::uint64_t;
  const Basin* basins;
  const std::uint32_t* first_of_island;
  std::int64_t count;
  std::uint32_t* child_of;  ///< of each basin
  PeakRow* rows;
  std::uint64_t* peaks;  ///< their number, in memory that the host reads

  KOKKOS_FUNCTION void operator()(std::int64_t b, value_type& sum, bool is_final) const {
    const Basin& basin = basins[b];
    if (basin.n_pix > 0) {
      if (is_final) {
        const PeakPixel& peak = basin.peak;
        child_of[b] = static_cast<std::uint32_t>(sum) + 1;
        rows[sum] = {peak.deviation, basin.rms,
                     basin.saddle,   basin.n_pix,
                     peak.label,     first_of_island[peak.label] - first_of_island[peak.label - 1],
                     peak.x,         peak.y};
      }
      ++sum;
    }
    if (is_final && b == count - 1) *peaks = sum;
  }
};

/// The children of the other basins.
struct FollowOwners {
  const Basin* basins;
  std::uint32_t* child_of;
  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    std::uint32_t owner = basins[b].owner;
    if (owner == static_cast<std::uint32_t>(b)) return;
    while (basins[owner].owner != owner) owner = basins[owner].owner;
    child_of[b] = child_of[owner];
  }
};

}  // namespace kastor::detail

#endif
