// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_GATHERED_BINS_HPP
#define KASTOR_SIGMA_CLIP_GATHERED_BINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/fixed_point.hpp"
#include "sigma_clip/brackets.hpp"

/// Bins for the gathered pixels: a rank in the window, or a limit in the tails, concerns the pixels
/// of one bin only.
namespace kastor::detail {

/// The sums of the tails are kept by octave of the distance from the centre. The sums of an octave
/// are integers on its own grid; octaves are added from the centre outwards. So the sums depend
/// neither on the order of the pixels nor on what lies farther out, and an outlier spoils no digit
/// of the others.
struct TailOctaves {
  /// The innermost octaves have many bins, since limits fall there: 1024, 512, 256, then 128 each.
  static constexpr int fine = 6;
  static constexpr int bins_in_fine = 2176;
  /// The next ones have 32 bins each: bright sources are there, and sometimes a limit.
  static constexpr int medium = 7;
  static constexpr int medium_bits = 5;
  static constexpr int parted = fine + medium;
  static constexpr int bins_in_parted = bins_in_fine + (medium << medium_bits);
  /// Octaves with a single bin, more than the exponents of float need. Pixels beyond do not fit.
  static constexpr int coarse = 280;
  static constexpr int count = parted + coarse;
  static constexpr int bins = bins_in_parted + coarse;
  /// Each parted octave consists of whole blocks.
  static constexpr int bins_of_block = 32;
  static constexpr int blocks = (bins + bins_of_block - 1) / bins_of_block;
  static_assert(bins_of_block == 1 << medium_bits);

  /// log2 of the number of bins of a parted octave.
  [[nodiscard]] KOKKOS_FUNCTION static int bits_of(int octave) {
    return octave < 3 ? 10 - octave : (octave < fine ? 7 : medium_bits);
  }
  [[nodiscard]] KOKKOS_FUNCTION static int first_bin_of(int octave) {
    if (octave >= parted) return octave - parted + bins_in_parted;
    if (octave >= fine) return bins_in_fine + ((octave - fine) << medium_bits);
    return octave < 3 ? 2048 - (2048 >> octave) : 1792 + 128 * (octave - 3);
  }
  [[nodiscard]] KOKKOS_FUNCTION static int octave_of(int bin) {
    if (bin >= bins_in_parted) return bin - bins_in_parted + parted;
    if (bin >= bins_in_fine) return fine + ((bin - bins_in_fine) >> medium_bits);
    if (bin >= 1792) return 3 + (bin - 1792) / 128;
    return bin < 1024 ? 0 : (bin < 1536 ? 1 : 2);
  }
};

/// Bins 0 .. window - 1 divide the window, upwards. Then follow the bins of the lower tail and
/// those of the upper tail, each from the centre outwards. The bin is a monotone function within
/// each part.
template <class T>
struct GatheredBins {
  static constexpr int window = 4096;
  static constexpr int tails = 2 * TailOctaves::bins;
  static constexpr int count = window + tails;

  T window_low, window_high;
  double low, per_unit;
  double centre;
  int exponent_field;  ///< exponent field of the distance of the nearer edge from the centre
  int grid_exponent;   ///< exponent of the grid of the sums between the edges

  KOKKOS_FUNCTION explicit GatheredBins(const Brackets<T>& b)
      : window_low(b.window_low),
        window_high(b.window_high),
        low(static_cast<double>(b.window_low)),
        per_unit(static_cast<double>(window) /
                 (static_cast<double>(b.window_high) - static_cast<double>(b.window_low))),
        centre(static_cast<double>(b.centre)),
        grid_exponent(b.grid.exponent) {
    const double below = centre - static_cast<double>(b.low_edge);
    const double above = static_cast<double>(b.high_edge) - centre;
    exponent_field = static_cast<int>(high_word(below < above ? below : above) >> mantissa_bits);
  }

  [[nodiscard]] KOKKOS_FUNCTION int operator()(T x) const {
    return ((x >= window_low) & (x <= window_high)) ? in_window(x) : beyond_window(x);
  }
  /// The bin of a pixel of the tails.
  [[nodiscard]] KOKKOS_FUNCTION int beyond_window(T x) const {
    const std::uint32_t bits = high_word(static_cast<double>(x) - centre);
    return window + (bits > but_sign ? 0 : TailOctaves::bins) + tail_bin(bits & but_sign);
  }
  /// The bin of a pixel of the window.
  [[nodiscard]] KOKKOS_FUNCTION int in_window(T x) const {
    // The product may round up to `window`. It may be NaN or infinite if the window is one value or
    // has denormal width; any clamp keeps the bins monotone.
    const double b = place_in_window(x);
    return b < window - 1 ? static_cast<int>(b) : window - 1;
  }
  /// Which of `parts` equal parts of its window bin a pixel belongs to; monotone.
  [[nodiscard]] KOKKOS_FUNCTION int part_of_window_bin(T x, int bin, int parts) const {
    const double part = (place_in_window(x) - bin) * parts;
    return part < parts - 1 ? (part > 0 ? static_cast<int>(part) : 0) : parts - 1;
  }
  /// The bin of a pixel within its tail, counted from 0.
  [[nodiscard]] KOKKOS_FUNCTION int in_tail(T x) const {
    return tail_bin(high_word(static_cast<double>(x) - centre) & but_sign);
  }

  /// Distances in an octave lie between 2^exponent and 2^(exponent + 1).
  [[nodiscard]] KOKKOS_FUNCTION int exponent_of(int octave) const {
    return exponent_field - 1023 + octave;
  }
  /// Converts the integer sum of an octave to units of the grid of the sums between the edges.
  [[nodiscard]] KOKKOS_FUNCTION double in_grid_units(const core::Int128& sum, int octave,
                                                     bool squared) const {
    const int e = exponent_of(octave) - grid_exponent;
    return core::scale_by_power_of_two(sum.to_double(), (squared ? 2 * e : e) - core::grid_bits);
  }

 private:
  // Only the upper 32 bits of the distance from the centre, a double, matter here.
  static constexpr std::uint32_t but_sign = 0x7fffffff;
  static constexpr int mantissa_bits = 20;
  /// Position in the window, in bins from its beginning.
  [[nodiscard]] KOKKOS_FUNCTION double place_in_window(T x) const {
    return (static_cast<double>(x) - low) * per_unit;
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t high_word(double x) {
    return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x) >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION int tail_bin(std::uint32_t bits) const {
    int octave = static_cast<int>(bits >> mantissa_bits) - exponent_field;
    octave = octave < 0 ? 0 : (octave < TailOctaves::count ? octave : TailOctaves::count - 1);
    int bin = TailOctaves::first_bin_of(octave);
    if (octave < TailOctaves::parted)
      bin += static_cast<int>((bits & ((1U << mantissa_bits) - 1)) >>
                              (mantissa_bits - TailOctaves::bits_of(octave)));
    return bin;
  }
};

}  // namespace kastor::detail

#endif
