// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APERTURE_CIRCLE_OVERLAP_HPP
#define KASTOR_APERTURE_CIRCLE_OVERLAP_HPP

#include <Kokkos_Core.hpp>

namespace kastor::detail {

/// asin(s) - s sqrt(1 - s^2), for 0 <= s <= 1: half the area between a chord of length 2 s and the
/// unit circle. No arc sine, no difference of similar numbers: the arc is halved until its series
/// is short, where the triangle between the chords of an arc and of its halves has the area
/// s^3 / (1 + sqrt(1 - s^2)).
[[nodiscard]] KOKKOS_INLINE_FUNCTION double half_segment(double s) {
  double area = 0;
  double copies = 1;  // of the present arc
  while (s > 0.25) {
    const double root = 1 + Kokkos::sqrt((1 - s) * (1 + s));
    area += copies * (s * s * s / root);
    copies *= 2;
    s = s / Kokkos::sqrt(2 * root);
  }
  // 2 sum of binomial(2 k, k) / 4^k s^(2 k + 3) / (2 k + 3); the next term is below 1e-18.
  const double square = s * s;
  double series = 0;
  for (int k = 13; k >= 1; --k)
    series = (series + 1.0 / (2 * k + 3)) * square * ((2 * k - 1) / (2.0 * k));
  return area + copies * (2 * s * square * (series + 1.0 / 3));
}

/// The area of the part of a rectangle from (x0, y0) to (x1, y1), all >= 0, within a circle about
/// (0, 0).
[[nodiscard]] KOKKOS_INLINE_FUNCTION double overlap_in_quadrant(double x0, double x1, double y0,
                                                                double y1, double radius) {
  if (!(x0 < x1) || !(y0 < y1) || x0 * x0 + y0 * y0 >= radius * radius) return 0;
  if (x1 * x1 + y1 * y1 <= radius * radius) return (x1 - x0) * (y1 - y0);
  const auto other = [radius](double a) {
    return a < radius ? Kokkos::sqrt((radius - a) * (radius + a)) : 0;
  };
  // The circle leaves the rectangle at the top at `from`, and at the bottom at `to`.
  double from = other(y1);
  from = from > x0 ? (from < x1 ? from : x1) : x0;
  double to = other(y0);
  to = to < x1 ? to : x1;
  const double full = (from - x0) * (y1 - y0);
  if (!(to > from)) return full;
  const double left = other(from);
  const double right = other(to);
  const double run = to - from;
  const double fall = left - right;
  const double half_chord = Kokkos::sqrt(run * run + fall * fall) / (2 * radius);
  return full + run * ((left - y0) + (right - y0)) / 2 + radius * radius * half_segment(half_chord);
}

/// The part of the unit square about (dx, dy) within a circle about (0, 0) [0..1].
[[nodiscard]] KOKKOS_INLINE_FUNCTION double circle_overlap(double dx, double dy, double radius) {
  const double x = dx < 0 ? -dx : dx;
  const double y = dy < 0 ? -dy : dy;
  if ((x + 0.5) * (x + 0.5) + (y + 0.5) * (y + 0.5) <= radius * radius) return 1;
  // A pixel on an axis is a sum of parts in the quadrants; those beyond 0 are mirrored.
  const auto in_half = [x, radius](double low, double high) {
    const double part = overlap_in_quadrant(x > 0.5 ? x - 0.5 : 0, x + 0.5, low, high, radius);
    return x < 0.5 ? part + overlap_in_quadrant(0, 0.5 - x, low, high, radius) : part;
  };
  const double part = in_half(y > 0.5 ? y - 0.5 : 0, y + 0.5);
  const double whole = y < 0.5 ? part + in_half(0, 0.5 - y) : part;
  return whole < 1 ? whole : 1;
}

}  // namespace kastor::detail

#endif
