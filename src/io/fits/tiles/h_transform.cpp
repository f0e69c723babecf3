// SPDX-License-Identifier: Apache-2.0
#include "io/fits/tiles/h_transform.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

// White, Postman & Lattanzi (1992, in Digitised Optical Sky Surveys, 167), with the rounding by
// which CFITSIO makes the transform exactly invertible in integers.

namespace kastor::io::detail {
namespace {

template <class Int>
using Unsigned = std::make_unsigned_t<Int>;

template <class Int>
Int wrapped_sum(Int a, Int b) {
  return static_cast<Int>(static_cast<Unsigned<Int>>(a) + static_cast<Unsigned<Int>>(b));
}
template <class Int>
Int wrapped_difference(Int a, Int b) {
  return static_cast<Int>(static_cast<Unsigned<Int>>(a) - static_cast<Unsigned<Int>>(b));
}
template <class Int>
Int times_power(Int a, int exponent) {
  return static_cast<Int>(static_cast<Unsigned<Int>>(a) << exponent);
}

/// The multiple of 2^exponent next to `value`; halves go away from zero.
template <class Int>
Int rounded_to_power(Int value, int exponent) {
  const Int unit = times_power(Int{1}, exponent);
  const Int half = unit >> 1;
  const Int up = value >= 0 || half == 0 ? half : half - 1;
  return wrapped_sum(value, up) & static_cast<Int>(-unit);
}

/// A level of the transform: blocks of rows x columns values of the image are one mean, and three
/// differences where the block has as many neighbours.
template <class Int>
struct HLevel {
  std::size_t rows, columns;  // of the level's result
  std::size_t mean_rows, mean_columns;
  std::size_t stride;  // of the coefficients
  const Int* means;    // mean_rows x mean_columns
  Int* coefficients;

  [[nodiscard]] const Int& mean(std::size_t i, std::size_t j) const {
    return means[i * mean_columns + j];
  }
  /// The difference between the two rows.
  [[nodiscard]] Int& hx(std::size_t i, std::size_t j) const {
    return coefficients[(mean_rows + i) * stride + j];
  }
  /// The difference between the two columns.
  [[nodiscard]] Int& hy(std::size_t i, std::size_t j) const {
    return coefficients[i * stride + mean_columns + j];
  }
  /// The difference between the diagonals.
  [[nodiscard]] Int& hc(std::size_t i, std::size_t j) const {
    return coefficients[(mean_rows + i) * stride + mean_columns + j];
  }
  /// Blocks that have both neighbours: from 1 to this, exclusively.
  [[nodiscard]] std::size_t inner_rows() const { return rows < 3 ? 0 : (rows - 1) / 2; }
  [[nodiscard]] std::size_t inner_columns() const { return columns < 3 ? 0 : (columns - 1) / 2; }
};

// ------------------------------------------------------------------------------------- smoothing

/// Moves a difference, in units of 2^-exponent of `wanted`, into the limits and by `most` at most.
template <class Int>
void move_towards(Int& value, Int wanted, Int low, Int high, int exponent, Int most) {
  if (low >= high) return;
  const Int target = std::max(std::min(wanted, high), low);
  Int step = wrapped_difference(target, times_power(value, exponent));
  if (step < 0) step = wrapped_sum(step, static_cast<Int>((Int{1} << exponent) - 1));
  step >>= exponent;
  value = wrapped_sum(value, std::max(std::min(step, most), static_cast<Int>(-most)));
}

/// Makes a difference match the means on both sides, unless that would make a new extremum.
template <class Int>
void smooth_slope(Int& value, Int before, Int here, Int after, Int most) {
  const Int up = wrapped_difference(after, here);
  const Int down = wrapped_difference(here, before);
  const Int high = times_power(std::max(std::min(up, down), Int{0}), 2);
  const Int low = times_power(std::min(std::max(up, down), Int{0}), 2);
  move_towards(value, wrapped_difference(after, before), low, high, 3, most);
}

/// The same for the difference between diagonals, at the block (i, j).
template <class Int>
void smooth_curvature(const HLevel<Int>& level, std::size_t i, std::size_t j, Int most) {
  const Int here = level.mean(i, j);
  const Int mm = level.mean(i - 1, j - 1);
  const Int pm = level.mean(i + 1, j - 1);
  const Int mp = level.mean(i - 1, j + 1);
  const Int pp = level.mean(i + 1, j + 1);
  const Int x = times_power(level.hx(i, j), 1);
  const Int y = times_power(level.hy(i, j), 1);
  const Int both = wrapped_sum(x, y);
  const Int x_only = wrapped_difference(x, y);

  const auto limit = [&](Int to_pp, Int from_pm, Int from_mp, Int to_mm, auto&& nearer) {
    return times_power(
        nearer(nearer(wrapped_difference(to_pp, both), wrapped_sum(from_pm, x_only)),
               nearer(wrapped_difference(from_mp, x_only), wrapped_sum(to_mm, both))),
        4);
  };
  const auto above = [](Int a) { return std::max(a, Int{0}); };
  const auto below = [](Int a) { return std::min(a, Int{0}); };
  const Int to_pp = wrapped_difference(pp, here);
  const Int from_pm = wrapped_difference(here, pm);
  const Int from_mp = wrapped_difference(here, mp);
  const Int to_mm = wrapped_difference(mm, here);
  const Int high = limit(above(to_pp), above(from_pm), above(from_mp), above(to_mm),
                         [](Int a, Int b) { return std::min(a, b); });
  const Int low = limit(below(to_pp), below(from_pm), below(from_mp), below(to_mm),
                        [](Int a, Int b) { return std::max(a, b); });
  const Int wanted = wrapped_difference(wrapped_difference(wrapped_sum(pp, mm), mp), pm);
  move_towards(level.hc(i, j), wanted, low, high, 6, most);
}

template <class Int>
void smooth_level(const HLevel<Int>& level, Int most) {
  for (std::size_t i = 1; i < level.inner_rows(); ++i) {
    for (std::size_t j = 0; j < level.mean_columns; ++j) {
      smooth_slope(level.hx(i, j), level.mean(i - 1, j), level.mean(i, j), level.mean(i + 1, j),
                   most);
    }
  }
  for (std::size_t i = 0; i < level.mean_rows; ++i) {
    for (std::size_t j = 1; j < level.inner_columns(); ++j) {
      smooth_slope(level.hy(i, j), level.mean(i, j - 1), level.mean(i, j), level.mean(i, j + 1),
                   most);
    }
  }
  for (std::size_t i = 1; i < level.inner_rows(); ++i)
    for (std::size_t j = 1; j < level.inner_columns(); ++j) smooth_curvature(level, i, j, most);
}

// ------------------------------------------------------------------------------------- expansion

/// A mean without the low bits that one difference has rounded away.
template <class Int>
Int without_bits(Int mean, Int bits) {
  return mean >= 0 ? wrapped_difference(mean, bits) : wrapped_sum(mean, bits);
}

/// Two values from their mean and difference, at level `k`.
template <class Int>
void expand_pair(Int mean, Int slope, int k, Int& first, Int& second) {
  const int shift = k == 0 ? 2 : 1;
  slope = rounded_to_power(slope, k + 1);
  mean = without_bits(mean, static_cast<Int>(slope & times_power(Int{1}, k + 1)));
  first = wrapped_difference(mean, slope) >> shift;
  second = wrapped_sum(mean, slope) >> shift;
}

/// Four values: `upper` and `lower` are at the left ones.
template <class Int>
void expand_block(Int mean, Int x, Int y, Int c, int k, Int* upper, Int* lower) {
  const int shift = k == 0 ? 2 : 1;
  x = rounded_to_power(x, k + 1);
  y = rounded_to_power(y, k + 1);
  c = rounded_to_power(c, k);
  const Int low = c & times_power(Int{1}, k);
  x = without_bits(x, low);
  y = without_bits(y, low);
  const Int next = (c ^ x ^ y) & times_power(Int{1}, k + 1);
  if (mean >= 0) {
    mean = wrapped_difference(wrapped_sum(mean, low), next);
  } else {
    mean = wrapped_sum(mean, low == 0 ? next : wrapped_difference(low, next));
  }
  lower[1] = wrapped_sum(wrapped_sum(mean, x), wrapped_sum(y, c)) >> shift;
  lower[0] = wrapped_difference(wrapped_sum(mean, x), wrapped_sum(y, c)) >> shift;
  upper[1] = wrapped_difference(wrapped_sum(mean, y), wrapped_sum(x, c)) >> shift;
  upper[0] = wrapped_difference(wrapped_sum(mean, c), wrapped_sum(x, y)) >> shift;
}

/// The rows x columns values of level `k`.
template <class Int>
void expand_level(const HLevel<Int>& level, int k, Int* out) {
  const std::size_t columns = level.columns;
  const std::size_t pairs = columns / 2;
  const std::size_t last = columns - 1;  // if it has no partner
  for (std::size_t i = 0; i < level.rows / 2; ++i) {
    Int* upper = out + 2 * i * columns;
    Int* lower = upper + columns;
    for (std::size_t j = 0; j < pairs; ++j) {
      expand_block(level.mean(i, j), level.hx(i, j), level.hy(i, j), level.hc(i, j), k,
                   upper + 2 * j, lower + 2 * j);
    }
    if (columns % 2 != 0)
      expand_pair(level.mean(i, pairs), level.hx(i, pairs), k, upper[last], lower[last]);
  }
  if (level.rows % 2 == 0) return;
  const std::size_t i = level.rows / 2;
  Int* row = out + 2 * i * columns;
  for (std::size_t j = 0; j < pairs; ++j)
    expand_pair(level.mean(i, j), level.hy(i, j), k, row[2 * j], row[2 * j + 1]);
  if (columns % 2 != 0) row[last] = level.mean(i, pairs) >> (k == 0 ? 2 : 1);
}

/// n / 2^k, rounded up.
std::size_t divided_by_power(std::size_t n, int k) { return (n + (std::size_t{1} << k) - 1) >> k; }

}  // namespace

template <class Int>
void undo_h_transform(std::vector<Int>& coefficients, std::size_t width, std::size_t height,
                      bool smooth, std::int32_t scale) {
  const int levels = static_cast<int>(std::bit_width(std::max(width, height) - 1));
  if (levels == 0) return;  // one value
  std::vector<Int> means = {rounded_to_power(coefficients[0], levels + 1)};
  std::vector<Int> values;
  for (int k = levels - 1; k >= 0; --k) {
    const HLevel<Int> level{divided_by_power(height, k),
                            divided_by_power(width, k),
                            divided_by_power(height, k + 1),
                            divided_by_power(width, k + 1),
                            width,
                            means.data(),
                            coefficients.data()};
    if (smooth && scale > 1) smooth_level(level, static_cast<Int>(scale >> 1));
    values.resize(level.rows * level.columns);
    expand_level(level, k, values.data());
    means.swap(values);
  }
  coefficients.swap(means);
}

template void undo_h_transform(std::vector<std::int32_t>&, std::size_t, std::size_t, bool,
                               std::int32_t);
template void undo_h_transform(std::vector<std::int64_t>&, std::size_t, std::size_t, bool,
                               std::int32_t);

}  // namespace kastor::io::detail
