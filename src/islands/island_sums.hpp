// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ISLANDS_ISLAND_SUMS_HPP
#define KASTOR_ISLANDS_ISLAND_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/atomics.hpp"
#include "core/bits.hpp"
#include "core/fixed_point.hpp"
#include "core/ordered_key.hpp"

/// What is accumulated for islands, in any order: integers and maxima.
namespace kastor::detail {

/// A sum of terms |t| < 2^bits as integers in units of 2^(bits - 94), in three parts that cannot
/// overflow with fewer than 2^32 terms. The second moments of a wide island with a sharp peak need
/// so many bits.
struct FineSum {
  std::int64_t high = 0;
  std::uint64_t middle = 0;
  std::uint64_t low = 0;

  [[nodiscard]] KOKKOS_FUNCTION static FineSum of(double term, int bits) {
    const double scaled = core::scale_by_power_of_two(term, 62 - bits);
    const double whole = Kokkos::floor(scaled);
    const auto q = static_cast<std::int64_t>(whole);
    return {q >> 32, static_cast<std::uint64_t>(q) & 0xffffffffU,
            static_cast<std::uint64_t>((scaled - whole) * 4294967296.0)};
  }
  KOKKOS_FUNCTION FineSum& operator+=(const FineSum& other) {
    high += other.high;
    middle += other.middle;
    low += other.low;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(FineSum& total) const {
    core::atomic_add(&total.high, high);
    core::atomic_add(&total.middle, middle);
    core::atomic_add(&total.low, low);
  }
  [[nodiscard]] KOKKOS_FUNCTION double total(int bits) const {
    core::Int128 sum;
    sum.high = high;
    sum += core::Int128{middle << 32, static_cast<std::int64_t>(middle >> 32)};
    sum += core::Int128{low, 0};
    return core::scale_by_power_of_two(sum.to_double(), bits - 94);
  }
};

/// The largest of some numbers >= 0, which have the same order as their bits.
class Largest {
 public:
  KOKKOS_FUNCTION void raise(double x) {
    const auto bits = Kokkos::bit_cast<std::uint64_t>(x);
    m_bits = bits > m_bits ? bits : m_bits;
  }
  KOKKOS_FUNCTION Largest& operator+=(const Largest& other) {
    m_bits = other.m_bits > m_bits ? other.m_bits : m_bits;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(Largest& total) const { core::atomic_raise(&total.m_bits, m_bits); }
  [[nodiscard]] KOKKOS_FUNCTION double value() const {
    const std::uint64_t bits = m_bits;  // without this copy a device loads byte by byte
    return Kokkos::bit_cast<double>(bits);
  }
  /// The smallest e such that all numbers are < 2^e; 0 for zero.
  [[nodiscard]] KOKKOS_FUNCTION int exponent() const { return core::exponent_above(value()); }

 private:
  std::uint64_t m_bits = 0;
};

/// The highest of some numbers of any sign.
class Highest {
 public:
  KOKKOS_FUNCTION void raise(double x) {
    const std::uint64_t key = core::key_of(x);
    m_key = key > m_key ? key : m_key;
  }
  KOKKOS_FUNCTION Highest& operator+=(const Highest& other) {
    m_key = other.m_key > m_key ? other.m_key : m_key;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(Highest& total) const { core::atomic_raise(&total.m_key, m_key); }
  [[nodiscard]] KOKKOS_FUNCTION double value() const {
    const std::uint64_t key = m_key;  // as in `Largest::value()`
    return core::value_of<double>(key);
  }

 private:
  std::uint64_t m_key = 0;  ///< below all numbers
};

/// Scales numbers by a power of two such that they lie in (-1, 1), in two exact steps.
struct UnitScale {
  double first, second;

  KOKKOS_FUNCTION explicit UnitScale(const Largest& largest)
      : first(core::power_of_two(-largest.exponent() / 2)),
        second(core::power_of_two(-largest.exponent() - -largest.exponent() / 2)) {}
  [[nodiscard]] KOKKOS_FUNCTION double operator()(double x) const { return x * first * second; }
};

/// Extents of the runs, and their largest numbers, which set the grids of the sums.
struct IslandExtents {
  std::int64_t n_pix = 0;
  std::int32_t x_min = Kokkos::Experimental::finite_max_v<std::int32_t>;
  std::int32_t x_max = -1;
  std::int32_t y_max = -1;
  std::int32_t longest_run = -1;
  std::uint32_t flags = 0;
  Largest deviation;  ///< its magnitude: with a detection image deviations may be below 0
  Highest peak;       ///< the highest deviation
  Largest value, level, rms, snr;

  KOKKOS_FUNCTION IslandExtents& operator+=(const IslandExtents& other) {
    n_pix += other.n_pix;
    x_min = other.x_min < x_min ? other.x_min : x_min;
    x_max = other.x_max > x_max ? other.x_max : x_max;
    y_max = other.y_max > y_max ? other.y_max : y_max;
    longest_run = other.longest_run > longest_run ? other.longest_run : longest_run;
    flags |= other.flags;
    deviation += other.deviation;
    peak += other.peak;
    value += other.value;
    level += other.level;
    rms += other.rms;
    snr += other.snr;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(IslandExtents& total) const {
    core::atomic_add(&total.n_pix, n_pix);
    core::atomic_lower(&total.x_min, x_min);
    core::atomic_raise(&total.x_max, x_max);
    core::atomic_raise(&total.y_max, y_max);
    core::atomic_raise(&total.longest_run, longest_run);
    if (flags != 0) core::atomic_set_bits(&total.flags, flags);
    deviation.add_to(total.deviation);
    peak.add_to(total.peak);
    value.add_to(total.value);
    level.add_to(total.level);
    rms.add_to(total.rms);
    snr.add_to(total.snr);
  }
  /// Whether all sums exist: they do if the largest deviation is finite.
  [[nodiscard]] KOKKOS_FUNCTION bool finite() const { return Kokkos::isfinite(deviation.value()); }
};

/// The largest deviation over the rms, where the detection image is not the measured one.
struct DetectionSnr {
  Largest snr;

  KOKKOS_FUNCTION DetectionSnr& operator+=(const DetectionSnr& other) {
    snr += other.snr;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(IslandExtents& total) const { snr.add_to(total.snr); }
};

/// The position of a pixel, as a number in raster order.
struct RasterPlace {
  std::uint64_t number = ~std::uint64_t{0};  ///< initially beyond all pixels

  RasterPlace() = default;
  KOKKOS_FUNCTION RasterPlace(std::int32_t y, std::int32_t x)
      : number(std::uint64_t{static_cast<std::uint32_t>(y)} << 32 | static_cast<std::uint32_t>(x)) {
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t y() const {
    return static_cast<std::int32_t>(number >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int32_t x() const {
    return static_cast<std::int32_t>(number & 0xffffffffU);
  }
};

/// Sums over the pixels, and the first pixel with the largest deviation.
struct IslandFluxes {
  FineSum flux, raw, level, squared_rms;
  RasterPlace peak;

  KOKKOS_FUNCTION IslandFluxes& operator+=(const IslandFluxes& other) {
    flux += other.flux;
    raw += other.raw;
    level += other.level;
    squared_rms += other.squared_rms;
    peak.number = other.peak.number < peak.number ? other.peak.number : peak.number;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(IslandFluxes& total) const {
    flux.add_to(total.flux);
    raw.add_to(total.raw);
    level.add_to(total.level);
    squared_rms.add_to(total.squared_rms);
    core::atomic_lower(&total.peak.number, peak.number);
  }
};

/// Sums of the deviations times distances from the peak, and times products of two distances.
struct IslandMoments {
  FineSum x, y, xx, xy, yy;

  KOKKOS_FUNCTION IslandMoments& operator+=(const IslandMoments& other) {
    x += other.x;
    y += other.y;
    xx += other.xx;
    xy += other.xy;
    yy += other.yy;
    return *this;
  }
  KOKKOS_FUNCTION void add_to(IslandMoments& total) const {
    x.add_to(total.x);
    y.add_to(total.y);
    xx.add_to(total.xx);
    xy.add_to(total.xy);
    yy.add_to(total.yy);
  }
};

struct IslandSums {
  IslandExtents extents;
  IslandFluxes fluxes;
  IslandMoments moments;
};

/// The peak of an island, and the grids of the moments about it: every pixel is less than 2^x_bits
/// columns and 2^y_bits rows away from the peak.
struct AboutPeak {
  std::int32_t x, y;
  int bits, x_bits, y_bits;

  KOKKOS_FUNCTION AboutPeak(const IslandExtents& extents, const RasterPlace& peak,
                            std::int32_t y_min)
      : x(peak.x()),
        y(peak.y()),
        bits(core::bit_width(extents.longest_run)),
        x_bits(bits_to_farther(extents.x_min, x, extents.x_max)),
        y_bits(bits_to_farther(y_min, y, extents.y_max)) {}

 private:
  [[nodiscard]] KOKKOS_FUNCTION static int bits_to_farther(std::int32_t a, std::int32_t at,
                                                           std::int32_t b) {
    return core::bit_width(b - at > at - a ? b - at : at - a);
  }
};

}  // namespace kastor::detail

#endif
