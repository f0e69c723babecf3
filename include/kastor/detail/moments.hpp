// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MOMENTS_HPP
#define KASTOR_DETAIL_MOMENTS_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <limits>
#include <type_traits>

namespace kastor::detail {

/// Pixels strictly between two bounds. NaN is in no interval, infinities are not in the default
/// one.
template <class T>
struct Interval {
  T low = -Kokkos::Experimental::infinity_v<T>;
  T high = Kokkos::Experimental::infinity_v<T>;

  [[nodiscard]] KOKKOS_FUNCTION bool contains(T x) const { return (x > low) & (x < high); }
};

/// The largest number below x, for x above -infinity.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T next_below(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  if (x == T{0}) return -Kokkos::bit_cast<T>(Bits{1});
  const Bits bits = Kokkos::bit_cast<Bits>(x);
  return Kokkos::bit_cast<T>(static_cast<Bits>(x > T{0} ? bits - 1 : bits + 1));
}
/// The smallest number above x, for x below infinity.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION T next_above(T x) {
  return -next_below(-x);
}

/// The pixels x with low < x < high, the bounds in double: rounded outwards, the comparison of
/// pixels stays exact.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION Interval<T> interval_between(double low, double high) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_same_v<T, float>) return {__double2float_rd(low), __double2float_ru(high)};
#endif
  T l = static_cast<T>(low);
  T h = static_cast<T>(high);
  if (static_cast<double>(l) > low) l = next_below(l);
  if (static_cast<double>(h) < high) h = next_above(h);
  return {l, h};
}

/// Count and extremes of an interval's pixels.
template <class T>
struct Extent {
  std::int64_t count = 0;
  T min = std::numeric_limits<T>::infinity();
  T max = -std::numeric_limits<T>::infinity();

  KOKKOS_FUNCTION Extent& operator+=(const Extent& other) {
    count += other.count;
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    return *this;
  }
};

template <class T>
struct ExtentOf {
  using Value = Extent<T>;
  Interval<T> interval;

  KOKKOS_FUNCTION void segment(const T* pixels, std::int64_t n, Value& value) const {
    Value mine;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = pixels[i];
      const bool in = interval.contains(x);
      mine.count += in ? 1 : 0;
      mine.min = (in & (x < mine.min)) ? x : mine.min;
      mine.max = (in & (x > mine.max)) ? x : mine.max;
    }
    value += mine;
  }
};

/// Sums of u and u^2 on a grid (two limbs each), count and extremes of an interval's pixels.
template <class T>
struct Moments {
  Extent<T> extent;
  std::int64_t below = 0;  ///< pixels smaller than the centre
  Int128 sum, sum_rest, squares, squares_rest;

  KOKKOS_FUNCTION Moments& operator+=(const Moments& other) {
    extent += other.extent;
    below += other.below;
    sum += other.sum;
    sum_rest += other.sum_rest;
    squares += other.squares;
    squares_rest += other.squares_rest;
    return *this;
  }
};

template <class T>
struct MomentsOf {
  using Value = Moments<T>;
  Interval<T> interval;
  Grid grid;

  KOKKOS_FUNCTION void segment(const T* pixels, std::int64_t n, Value& value) const {
    Extent<T> extent;
    std::int64_t below = 0;
    std::uint64_t s = 0, s_rest = 0, q = 0, q_rest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = pixels[i];
      const bool in = interval.contains(x);
      const double u = in ? grid.map(static_cast<double>(x)) : 0.0;
      const double uu = u * u;
      s += to_grid_biased(u);
      s_rest += to_grid_biased(grid_remainder(u));
      q += to_grid_biased(uu);
      q_rest += to_grid_biased(grid_remainder(uu));
      below += u < 0.0 ? 1 : 0;
      extent.count += in ? 1 : 0;
      extent.min = (in & (x < extent.min)) ? x : extent.min;
      extent.max = (in & (x > extent.max)) ? x : extent.max;
    }
    value.extent += extent;
    value.below += below;
    value.sum.add(unbias(s, n));
    value.sum_rest.add(unbias(s_rest, n));
    value.squares.add(unbias(q, n));
    value.squares_rest.add(unbias(q_rest, n));
  }
};
static_assert(host_segment <= max_grid_terms);

/// Sums about a centre as (mantissa, common exponent): sum of (x - centre) is sum x 2^exponent,
/// squares x 4^exponent.
struct CentredSums {
  std::int64_t count = 0;
  double sum = 0;
  double squares = 0;
  int exponent = -10000;

  CentredSums() = default;
  CentredSums(std::int64_t n, double s, double q, int e)
      : count(n), sum(s), squares(q), exponent(e) {}

  template <class T>
  CentredSums(const Moments<T>& m, const Grid& grid)
      : count(m.extent.count),
        sum(std::ldexp(m.sum.to_double(), -grid_bits) +
            std::ldexp(m.sum_rest.to_double(), -2 * grid_bits)),
        squares(std::ldexp(m.squares.to_double(), -grid_bits) +
                std::ldexp(m.squares_rest.to_double(), -2 * grid_bits)),
        exponent(grid.exponent) {}

  CentredSums& operator+=(const CentredSums& other) {
    const int common = exponent > other.exponent ? exponent : other.exponent;
    sum = std::ldexp(sum, exponent - common) + std::ldexp(other.sum, other.exponent - common);
    squares = std::ldexp(squares, 2 * (exponent - common)) +
              std::ldexp(other.squares, 2 * (other.exponent - common));
    count += other.count;
    exponent = common;
    return *this;
  }
  [[nodiscard]] double mean(double centre) const {
    return centre + std::ldexp(sum / static_cast<double>(count), exponent);
  }
  /// Population standard deviation. The centre is within about one std of the mean, so at most one
  /// bit cancels.
  [[nodiscard]] double std() const {
    const auto n = static_cast<double>(count);
    const double variance = (squares - sum * (sum / n)) / n;
    return variance > 0 ? std::ldexp(std::sqrt(variance), exponent) : 0.0;
  }
};

}  // namespace kastor::detail

#endif
