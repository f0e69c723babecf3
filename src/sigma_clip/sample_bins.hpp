// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_SAMPLE_BINS_HPP
#define KASTOR_SIGMA_CLIP_SAMPLE_BINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::detail {

/// Bins of the sample's histogram, over t = (x - centre) / scale. On both sides of the centre they
/// are 1/1024 wide up to 1 and 1/64 wide up to 16; then there are 32 per octave up to 1024, and one
/// beyond.
struct SampleBins {
  static constexpr int fine = 1024;
  static constexpr int coarse = fine + 15 * 64;
  static constexpr int side = coarse + 6 * 32 + 1;
  static constexpr int count = 2 * side;

  double centre = 0;
  double per_unit = 0;  ///< 1 / scale

  [[nodiscard]] KOKKOS_FUNCTION double units_of(double x) const { return (x - centre) * per_unit; }

  /// The bin of t, without branches so that a loop over many values vectorises. It is right if
  /// `is_near` holds for the result.
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t near_bin_of(double t) {
    const double distance = t < 0 ? -t : t;
    const double inner = distance < 1 ? distance : 1;
    const double all = distance < 16 ? distance : 16;
    const double outer = (all > 1 ? all : 1) - 1;
    const std::int32_t i =
        static_cast<std::int32_t>(inner * fine) + static_cast<std::int32_t>(outer * 64);
    return t < 0 ? side - 1 - i : side + i;
  }
  /// Whether a bin is within 16 units of the centre.
  [[nodiscard]] KOKKOS_FUNCTION static bool is_near(int bin) {
    return bin > side - 1 - coarse && bin < side + coarse;
  }
  /// The bin of any t, also of an infinite one.
  [[nodiscard]] KOKKOS_FUNCTION static int of(double t) {
    const double distance = Kokkos::fabs(t);
    if (distance < 16) return near_bin_of(t);
    int i = side - 1;
    if (distance < 1024) {
      const auto bits = Kokkos::bit_cast<std::uint64_t>(distance);
      i = coarse + (static_cast<int>(bits >> 52) - 1027) * 32 + static_cast<int>(bits >> 47 & 31);
    }
    return t < 0 ? side - 1 - i : side + i;
  }

  /// The value of t at which a bin begins; 0 <= bin <= count.
  [[nodiscard]] KOKKOS_FUNCTION static double low_of(int bin) {
    return bin >= side ? begin_of(bin - side) : -begin_of(side - bin);
  }
  [[nodiscard]] KOKKOS_FUNCTION static double width_of(int bin) {
    return low_of(bin + 1) - low_of(bin);
  }
  /// The middle of a bin in units of 1/2048: an integer, so that sums over the sample are exact.
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t middle_of(int bin) {
    const int i = bin >= side ? bin - side : side - 1 - bin;
    std::int32_t middle = 2 * i + 1;
    if (i >= fine) middle = 2048 + 32 * (i - fine) + 16;
    if (i >= coarse) middle = (2048 + 64 * ((i - coarse) % 32) + 32) << ((i - coarse) / 32 + 4);
    return bin >= side ? middle : -middle;
  }

 private:
  /// The distance at which bin `i` of a side begins; 0 <= i <= side.
  [[nodiscard]] KOKKOS_FUNCTION static double begin_of(int i) {
    if (i <= fine) return static_cast<double>(i) / fine;
    if (i <= coarse) return 1 + static_cast<double>(i - fine) / 64;
    const int k = i - coarse;
    return static_cast<double>(16 << (k / 32)) * (1 + static_cast<double>(k % 32) / 32);
  }
};

/// Number of sample pixels in some bins, and the sums of their `SampleBins::middle_of` and its
/// square.
struct SampleSums {
  std::int64_t count = 0, sum = 0, squares = 0;

  /// Adds n pixels of a bin. If half of the largest sample lies in an outermost bin, the squares
  /// overflow, modulo 2^64. The variance is then negative, and there is no prediction.
  KOKKOS_FUNCTION void add(std::int64_t n, int bin) {
    const std::int64_t middle = SampleBins::middle_of(bin);
    count += n;
    sum += n * middle;
    squares = static_cast<std::int64_t>(static_cast<std::uint64_t>(squares) +
                                        static_cast<std::uint64_t>(n * middle) *
                                            static_cast<std::uint64_t>(middle));
  }
};

/// Prefix sums: over all bins before a bin, for each bin and for the end.
struct SampleSumsBefore {
  const std::uint32_t* count;   ///< (SampleBins::count + 1)
  const std::int64_t* sum;      ///< (SampleBins::count + 1)
  const std::int64_t* squares;  ///< (SampleBins::count + 1)

  /// The sums over bins [first, last).
  [[nodiscard]] KOKKOS_FUNCTION SampleSums between(int first, int last) const {
    return {static_cast<std::int64_t>(count[last]) - static_cast<std::int64_t>(count[first]),
            sum[last] - sum[first], squares[last] - squares[first]};
  }
  /// The bin that contains a rank: the last one with at most `rank` pixels before it.
  [[nodiscard]] KOKKOS_FUNCTION int bin_of_rank(std::int64_t rank) const {
    int low = 0;
    int high = SampleBins::count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (static_cast<std::int64_t>(count[middle]) <= rank ? low : high) = middle;
    }
    return low;
  }
};

}  // namespace kastor::detail

#endif
