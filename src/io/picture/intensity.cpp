// SPDX-License-Identifier: Apache-2.0
#include "io/picture/intensity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <kastor/error.hpp>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace kastor::io::picture {
namespace {

// Where asinh becomes logarithmic: at most this fraction of the range above the lower limit, and at
// most this many times the distance of the median from there. So values near the sky level remain
// visible beside a bright star.
constexpr double k_most_softening = 0.1;
constexpr double k_softening_of_sky = 2.5;
// Upper limit / lower limit, if the percentile gives no lower limit for the logarithmic scale.
constexpr double k_log_range = 1000.0;
// Up to this many pixels, percentiles are exact.
constexpr std::int64_t k_sample = std::int64_t{1} << 24;

/// Calls `visit(value)` for every finite pixel in raster order.
template <class T, class Visitor>
void for_each_finite(const GridOf<T>& pixels, Visitor&& visit) {
  for (std::int64_t y = 0; y < pixels.ny; ++y) {
    const T* row = pixels.row(y);
    for (std::int64_t x = 0; x < pixels.nx; ++x) {
      if (std::isfinite(row[x])) visit(row[x]);
    }
  }
}

template <class T>
std::int64_t count_finite(const GridOf<T>& pixels) {
  std::int64_t count = 0;
  for_each_finite(pixels, [&](T) { ++count; });
  return count;
}

/// Every k-th finite pixel, with the smallest k that leaves at most `k_sample`.
template <class T>
std::vector<T> sample(const GridOf<T>& pixels) {
  const std::int64_t count = count_finite(pixels);
  const std::int64_t stride = std::max<std::int64_t>(1, (count + k_sample - 1) / k_sample);
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>((count + stride - 1) / stride));
  std::int64_t left = 0;
  for_each_finite(pixels, [&](T value) {
    if (left == 0) {
      values.push_back(value);
      left = stride;
    }
    --left;
  });
  return values;
}

/// Percentiles of finite values, of which there must be one. A histogram of their leading 16 bits
/// names the few values among which a rank is searched.
template <class T>
class Percentiles {
 public:
  explicit Percentiles(std::vector<T> values) : m_values(std::move(values)) {
    for (const T value : m_values) ++m_counts[bin_of(value)];
  }

  /// Interpolates linearly between order statistics.
  double operator()(double percent) {
    const double rank = percent / 100.0 * static_cast<double>(m_values.size() - 1);
    const auto below = static_cast<std::size_t>(rank);
    const auto low = static_cast<double>(order_statistic(below));
    const auto high =
        static_cast<double>(order_statistic(std::min(below + 1, m_values.size() - 1)));
    const double fraction = rank - static_cast<double>(below);
    // Not low + f (high - low), since the difference can overflow.
    return low * (1.0 - fraction) + high * fraction;
  }

 private:
  /// Ascends with the value.
  static std::size_t bin_of(T value) {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    constexpr int digits = std::numeric_limits<Bits>::digits;
    constexpr Bits sign = Bits{1} << (digits - 1);
    const auto bits = std::bit_cast<Bits>(value);
    return static_cast<std::size_t>(((bits & sign) != 0 ? ~bits : bits | sign) >> (digits - 16));
  }

  T order_statistic(std::size_t rank) {
    std::size_t bin = 0;
    for (; rank >= m_counts[bin]; ++bin) rank -= m_counts[bin];
    if (m_members.empty() || bin_of(m_members.front()) != bin) {
      m_members.clear();
      m_members.reserve(m_counts[bin]);
      std::copy_if(m_values.begin(), m_values.end(), std::back_inserter(m_members),
                   [&](T value) { return bin_of(value) == bin; });
    }
    const auto at = m_members.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(m_members.begin(), at, m_members.end());
    return *at;
  }

  std::vector<T> m_values;
  std::vector<std::size_t> m_counts = std::vector<std::size_t>(65536);
  std::vector<T> m_members;  ///< of the bin that was searched last
};

[[noreturn]] void refuse_blank() {
  throw Error("every pixel is blank; expected at least one finite pixel");
}

template <class T>
Limits lesson_limits(const GridOf<T>& pixels) {
  double largest = -std::numeric_limits<double>::infinity();
  for_each_finite(pixels,
                  [&](T value) { largest = std::max(largest, static_cast<double>(value)); });
  if (std::isinf(largest)) refuse_blank();
  if (!(largest / 100.0 > 0.0)) {
    throw Error(fmt::format(
        "the largest pixel is {}; expected one above 0 for the lesson's logarithmic scale",
        largest));
  }
  return {largest / 100.0, largest / 10.0, k_most_softening};
}

/// Limits on both sides of a single value, so that it is in the middle of the scale.
Limits around(double value, IntensityScale scale) {
  if (scale == IntensityScale::log) return {value / 2.0, value * 2.0, k_most_softening};
  const double range = value == 0.0 ? 1.0 : std::abs(value);
  const double below = scale == IntensityScale::linear
                           ? 0.5
                           : k_most_softening * std::sinh(0.5 * std::asinh(1.0 / k_most_softening));
  return {value - below * range, value + (1.0 - below) * range, k_most_softening};
}

template <class T>
Limits free_limits(const GridOf<T>& pixels, const PictureParams& params) {
  Limits limits{params.minimum.value_or(0.0), params.maximum.value_or(0.0), k_most_softening};
  if (params.minimum && params.maximum) {
    if (count_finite(pixels) == 0) refuse_blank();
    return limits;
  }
  auto values = sample(pixels);
  if (values.empty()) refuse_blank();
  Percentiles percentile(std::move(values));
  if (!params.minimum) limits.low = percentile(params.lower_percentile);
  if (!params.maximum) limits.high = percentile(params.upper_percentile);
  const bool log = params.scale == IntensityScale::log;
  if (log && !(limits.high > 0.0)) {
    throw Error(fmt::format("the upper limit is {}; expected one above 0 for the logarithmic scale",
                            limits.high));
  }
  if (log && !params.minimum && limits.low <= 0.0) limits.low = limits.high / k_log_range;
  if (!params.minimum && !params.maximum && limits.low == limits.high)
    return around(limits.low, params.scale);
  const double sky = percentile(50.0);
  const double softening =
      k_softening_of_sky * (sky / 2.0 - limits.low / 2.0) / (limits.high / 2.0 - limits.low / 2.0);
  if (softening > 0.0) limits.softening = std::min(k_most_softening, softening);
  return limits;
}

template <class T>
Limits any_limits(const GridOf<T>& pixels, const PictureParams& params) {
  if (params.look == PictureLook::lesson) return lesson_limits(pixels);
  const Limits limits = free_limits(pixels, params);
  if (!(limits.low < limits.high)) {
    throw Error(fmt::format("the limits are {} and {}; expected the first below the second",
                            limits.low, limits.high));
  }
  if (params.scale == IntensityScale::log && !(limits.low > 0.0)) {
    throw Error(fmt::format("the lower limit is {}; expected one above 0 for the logarithmic scale",
                            limits.low));
  }
  return limits;
}

}  // namespace

Intensity::Intensity(IntensityScale scale, const Limits& limits)
    : m_scale(scale), m_limits(limits), m_asinh_range(std::asinh(1.0 / limits.softening)) {}

double Intensity::position(double value) const {
  const auto [low, high, softening] = m_limits;
  if (m_scale == IntensityScale::log) {
    if (!(value > 0.0)) return -std::numeric_limits<double>::max();
    return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  }
  // Halves, since the difference of two doubles can overflow.
  const double linear = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
  if (m_scale == IntensityScale::linear) return linear;
  return std::asinh(linear / softening) / m_asinh_range;
}

Limits limits_of(const PixelGrid& pixels, const PictureParams& params) {
  return std::visit([&](const auto& grid) { return any_limits(grid, params); }, pixels);
}

}  // namespace kastor::io::picture
