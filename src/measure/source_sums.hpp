// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_SOURCE_SUMS_HPP
#define KASTOR_MEASURE_SOURCE_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/bits.hpp"
#include "core/fixed_point.hpp"
#include "core/ordered_key.hpp"

/// What is accumulated for a component before it becomes a row, in any order: integers and
/// extremes.
namespace kastor::detail {

/// A sum of terms |t| < 2^bits as integers in units of 2^(bits - 62), in two halves that cannot
/// overflow with fewer than 2^32 terms.
struct WideSum {
  std::uint64_t high = 0;  ///< two's complement
  std::uint64_t low = 0;

  /// For bits up to 64. Terms so small that the product is inexact round to 0.
  [[nodiscard]] KOKKOS_FUNCTION static WideSum of(double term, int bits) {
    const std::int64_t n = core::floor_to_integer(term * core::power_of_two(62 - bits) + 0.5);
    return {static_cast<std::uint64_t>(n >> 32), static_cast<std::uint64_t>(n) & 0xffffffffU};
  }
  KOKKOS_FUNCTION WideSum& operator+=(const WideSum& other) {
    high += other.high;
    low += other.low;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(WideSum& total) const {
    core::atomic_add(&total.high, high);
    core::atomic_add(&total.low, low);
  }
  [[nodiscard]] KOKKOS_FUNCTION double total(int bits) const {
    return core::scale_by_power_of_two(core::joined(low, high).to_double(), bits - 62);
  }
};

/// The position of a pixel, as a number in raster order.
struct PixelPlace {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t of(std::int32_t y, std::int32_t x) {
    return std::uint64_t{static_cast<std::uint32_t>(y)} << 32 | static_cast<std::uint32_t>(x);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t y(std::uint64_t place) {
    return static_cast<std::int32_t>(place >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::int32_t x(std::uint64_t place) {
    return static_cast<std::int32_t>(place & 0xffffffffU);
  }
};

/// Extents of a component's runs, the longest one, and the largest pixel.
template <class T>
struct SourceExtents {
  std::uint64_t n_pix = 0;
  std::int32_t x_min = Kokkos::Experimental::finite_max_v<std::int32_t>;
  std::int32_t x_max = -1;
  std::int32_t y_max = -1;
  std::int32_t longest_run = -1;
  core::Key<T> peak = 0;       ///< key of the largest pixel
  core::Key<T> magnitude = 0;  ///< bits of the largest |pixel|

  KOKKOS_FUNCTION SourceExtents& operator+=(const SourceExtents& other) {
    n_pix += other.n_pix;
    x_min = other.x_min < x_min ? other.x_min : x_min;
    x_max = other.x_max > x_max ? other.x_max : x_max;
    y_max = other.y_max > y_max ? other.y_max : y_max;
    longest_run = other.longest_run > longest_run ? other.longest_run : longest_run;
    peak = other.peak > peak ? other.peak : peak;
    magnitude = other.magnitude > magnitude ? other.magnitude : magnitude;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(SourceExtents& total) const {
    core::atomic_add(&total.n_pix, n_pix);
    core::atomic_lower(&total.x_min, x_min);
    core::atomic_raise(&total.x_max, x_max);
    core::atomic_raise(&total.y_max, y_max);
    core::atomic_raise(&total.longest_run, longest_run);
    core::atomic_raise(&total.peak, peak);
    core::atomic_raise(&total.magnitude, magnitude);
  }
};

/// Sums of the pixels, scaled as in `SourceGrid`, and the position of the peak.
struct SourceSums {
  WideSum flux, x_moment, y_moment;
  std::uint64_t peak_at = PixelPlace::none;

  KOKKOS_FUNCTION SourceSums& operator+=(const SourceSums& other) {
    flux += other.flux;
    x_moment += other.x_moment;
    y_moment += other.y_moment;
    peak_at = other.peak_at < peak_at ? other.peak_at : peak_at;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(SourceSums& total) const {
    flux.add_to(total.flux);
    x_moment.add_to(total.x_moment);
    y_moment.add_to(total.y_moment);
    core::atomic_lower(&total.peak_at, peak_at);
  }
};

template <class T>
struct SourceTotals {
  SourceExtents<T> extents;
  SourceSums sums;
};

/// The scaling of a component's terms: pixels are multiplied by 2^-pixel, so that they lie in [-1,
/// 1]; sums are on grids of these bits.
template <class T>
struct SourceGrid {
  int pixel;
  int flux_bits, x_bits, y_bits;

  KOKKOS_FUNCTION SourceGrid(const SourceExtents<T>& extents, std::int32_t y_min)
      : pixel(core::exponent_above(static_cast<double>(Kokkos::bit_cast<T>(extents.magnitude)))),
        flux_bits(core::bit_width(extents.longest_run)),
        x_bits(flux_bits + core::bit_width(extents.x_max - extents.x_min)),
        y_bits(flux_bits + core::bit_width(extents.y_max - y_min)) {}
};

}  // namespace kastor::detail

#endif
