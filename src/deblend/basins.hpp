// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_BASINS_HPP
#define KASTOR_DEBLEND_BASINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

#include "core/atomics.hpp"
#include "core/intrinsics.hpp"
#include "core/keyed_sums.hpp"
#include "core/launch.hpp"
#include "deblend/flat_pixels.hpp"
#include "islands/nearby_background.hpp"

/// Divides islands into basins: the pixels from which one peak is reached by climbing.
namespace kastor::detail {

/// Whether pixel a of the list, of deviation d_a, is above pixel b.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_above(double d_a, std::uint32_t a, double d_b,
                                                   std::uint32_t b) {
  return d_a > d_b || (d_a == d_b && a < b);
}

/// A local maximum, and where it lies.
struct PeakPixel {
  double deviation;
  std::uint32_t pixel;  ///< in the list of pixels
  std::uint32_t label;
  std::int32_t x, y;
};
/// By island, the highest first.
struct HigherPeak {
  KOKKOS_FUNCTION bool operator()(const PeakPixel& a, const PeakPixel& b) const {
    if (a.label != b.label) return a.label < b.label;
    return is_above(a.deviation, a.pixel, b.deviation, b.pixel);
  }
};

/// A basin, and what is known of the branch whose highest peak it has. Basins are numbered by
/// island, the highest peak first: of two, the one of the lower number is higher.
struct Basin {
  PeakPixel peak;
  double rms;           ///< at the peak
  double saddle;        ///< of its branch, see `IslandPeak`
  double light;         ///< sum of the deviations of its pixels that were passed on the way down
  std::int64_t passed;  ///< number of those pixels
  std::int64_t n_pix;
  std::uint32_t tree;   ///< link to a higher basin of the same part of the max-tree
  std::uint32_t owner;  ///< link to a higher basin of the same branch
};

/// Deviations of the pixels of a band.
template <class Exec, Real T>
struct TakeDeviations {
  FlatPixels pixels;
  Background<Exec, T> background;
  Side side;
  Rows<T> band;
  std::int64_t first_row;
  double* deviations;

  [[nodiscard]] std::int64_t pieces() const {
    return band.ny * pixels.words_per_row * WordPieces<Exec>::of_word;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    NearbyMap<Exec, T> level(background.level);
    const std::int64_t before = first_row * pixels.words_per_row * WordPieces<Exec>::of_word;
    WordPieces<Exec>::visit(
        pixels, before + piece, [&](std::uint32_t i, std::int64_t y, std::int64_t x) {
          const T value = band.data[(y - first_row) * band.pitch + x];
          const double d = deviation(side, static_cast<double>(value), level(y, x));
          constexpr double lowest = -Kokkos::Experimental::infinity_v<double>;
          deviations[i] = d > lowest ? d + 0 : lowest;  // NaN is low; there is one zero
        });
  }
};

/// Links each pixel to its highest neighbour, a peak to itself.
template <class Exec>
struct LinkUp {
  FlatPixels pixels;
  RunLabels<Exec> labels;
  bool at_corners;
  const double* deviations;
  std::uint32_t* up;

  KOKKOS_FUNCTION void operator()(std::int64_t piece) const {
    WordPieces<Exec>::visit(pixels, piece, [&](std::uint32_t i, std::int64_t y, std::int64_t x) {
      std::uint32_t best = i;
      double highest = deviations[i];
      pixels.visit_neighbours(
          i, y, x, at_corners,
          [&](std::uint32_t j, std::int64_t row, std::int64_t column, bool by_corner) {
            const double d = deviations[j];
            if (!is_above(d, j, highest, best)) return;
            if (by_corner && labels.at(y, x) != labels.at(row, column)) return;
            best = j;
            highest = d;
          });
      up[i] = best;
    });
  }
};

/// A scan over words that makes the list of peaks. Only the count is right if there is no room.
template <class Exec>
struct ListPeaks {
  using value_type = std::uint64_t;
  FlatPixels pixels;
  RunLabels<Exec> labels;
  const double* deviations;
  const std::uint32_t* up;
  PeakPixel* peaks;
  std::int64_t room;
  std::uint64_t* count;  ///< in memory that the host reads

  KOKKOS_FUNCTION void operator()(std::int64_t w, value_type& sum, bool is_final) const {
    pixels.visit_word(w, ~std::uint64_t{0}, [&](std::uint32_t i, std::int64_t y, std::int64_t x) {
      if (up[i] != i) return;
      if (is_final && sum < static_cast<std::uint64_t>(room)) {
        peaks[sum] = {deviations[i], i, labels.at(y, x), static_cast<std::int32_t>(x),
                      static_cast<std::int32_t>(y)};
      }
      ++sum;
    });
    if (is_final && w == pixels.ny * pixels.words_per_row - 1) *count = sum;
  }
};

/// Makes basins of sorted peaks, and finds the first of each island. A pixel that is a peak gets
/// the number of its basin.
template <class Exec, Real T>
struct MakeBasins {
  PixelMap<Exec, T> rms;
  const PeakPixel* peaks;
  std::int64_t count;
  Basin* basins;
  std::uint32_t* first_of_island;  ///< last, the number of all basins
  std::uint32_t* basin_of;

  KOKKOS_FUNCTION void operator()(std::int64_t b) const {
    const PeakPixel peak = peaks[b];
    const auto number = static_cast<std::uint32_t>(b);
    basins[b] = {
        peak,  rms(peak.y, peak.x), -Kokkos::Experimental::infinity_v<double>, 0, 0, 0, number,
        number};
    basin_of[peak.pixel] = number;
    if (b == 0 || peaks[b - 1].label != peak.label) first_of_island[peak.label - 1] = number;
    if (b == count - 1) first_of_island[peak.label] = number + 1;
  }
};

/// Gives the other pixels the basin of the peak above them. Links are shortened on the way: others
/// may do so at the same time, since a link is only replaced by a further one.
struct ClimbToPeaks {
  FlatPixels pixels;
  std::uint32_t* up;
  std::uint32_t* basin_of;

  KOKKOS_FUNCTION void operator()(std::int64_t pixel) const {
    if (pixel >= pixels.count()) return;
    auto i = static_cast<std::uint32_t>(pixel);
    std::uint32_t next = core::relaxed_load(up + i);
    if (next == i) return;
    while (true) {
      const std::uint32_t further = core::relaxed_load(up + next);
      if (further == next) break;
      core::relaxed_store(up + i, further);
      i = next;
      next = further;
    }
    basin_of[pixel] = basin_of[next];
  }
};

/// Counts the pixels of basins.
template <class Exec>
struct CountBasins {
  struct Add {
    Basin* basins;
    KOKKOS_FUNCTION void operator()(std::uint32_t basin, const std::int64_t& n) const {
      core::atomic_add(&basins[basin].n_pix, n);
    }
  };
  FlatPixels pixels;
  const std::uint32_t* basin_of;
  Basin* basins;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Add add{basins};
    core::KeyedSums<std::int64_t, Add> sums(add);
    const core::Share<Exec> share(worker, workers, 0, pixels.count());
    for (std::int64_t i = share.first; i < share.past; i += share.step) sums.take(basin_of[i], 1);
    sums.flush();
  }
};

}  // namespace kastor::detail

#endif
