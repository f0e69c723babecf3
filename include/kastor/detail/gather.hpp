// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_HPP
#define KASTOR_DETAIL_GATHER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/pack_bits.hpp>
#include <kastor/detail/reduce_pixels.hpp>

/// The one read of the image: sums over the core, everything else gathered.
namespace kastor::detail {

template <class T, class Exec>
using Values = Kokkos::View<T*, typename Exec::memory_space>;

/// A list that many threads append to. Its order is not defined; `count` may exceed the capacity:
/// then values were lost.
template <class T, class Exec>
struct AppendList {
  Values<T, Exec> values;
  Kokkos::View<std::uint64_t, typename Exec::memory_space> count;

  KOKKOS_FUNCTION void append(const T* from, std::int64_t n) const {
    if (n == 0) return;
    const std::uint64_t at = Kokkos::atomic_fetch_add(&count(), static_cast<std::uint64_t>(n));
    if (at + static_cast<std::uint64_t>(n) > values.extent(0)) return;
    for (std::int64_t i = 0; i < n; ++i) values(at + static_cast<std::uint64_t>(i)) = from[i];
  }
};

struct CoreSums {
  std::int64_t below = 0;   ///< core pixels below the window
  std::int64_t above = 0;   ///< core pixels above it
  std::int64_t window = 0;  ///< pixels in the window
  Int128 sum, squares;

  KOKKOS_FUNCTION CoreSums& operator+=(const CoreSums& other) {
    below += other.below;
    above += other.above;
    window += other.window;
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

template <class T, class Exec>
struct GatherOutsideCore {
  using Value = CoreSums;
  Brackets<T> brackets;
  double centre;
  double scale;
  AppendList<T, Exec> tails;
  AppendList<T, Exec> window;

  KOKKOS_FUNCTION bool in_core(T x) const {
    return ((x > brackets.low_edge) & (x < brackets.window_low)) |
           ((x > brackets.window_high) & (x < brackets.high_edge));
  }
  KOKKOS_FUNCTION bool in_window(T x) const {
    return (x >= brackets.window_low) & (x <= brackets.window_high);
  }

  KOKKOS_FUNCTION void segment(const T* pixels, std::int64_t n, Value& value) const {
    if constexpr (is_host_space_v<Exec>) {
      add_core(pixels, n, value);
      gather(pixels, n, value);
    } else {
      for (std::int64_t i = 0; i < n; ++i) one_pixel(pixels[i], value);
    }
  }

 private:
  /// A loop without branches: it vectorises.
  KOKKOS_FUNCTION void add_core(const T* pixels, std::int64_t n, Value& value) const {
    const T low = brackets.low_edge, high = brackets.high_edge;
    const T window_low = brackets.window_low, window_high = brackets.window_high,
            middle = brackets.centre;
    std::uint64_t s = 0, q = 0;
    std::uint32_t below = 0, above = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = pixels[i];
      const bool is_below = (x > low) & (x < window_low);
      const bool is_above = (x > window_high) & (x < high);
      const T kept = is_below | is_above ? x : middle;
      const double u = (static_cast<double>(kept) - centre) * scale;
      s += to_grid_biased(u);
      q += to_grid_biased(u * u);
      below += is_below ? 1U : 0U;
      above += is_above ? 1U : 0U;
    }
    value.below += below;
    value.above += above;
    value.sum.add(unbias(s, n));
    value.squares.add(unbias(q, n));
  }

  KOKKOS_FUNCTION void gather(const T* pixels, std::int64_t n, Value& value) const {
    T outside[host_segment];
    std::int64_t kept = 0;
    std::int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
      std::uint64_t bits = pack_bits(pixels + i, [this](T pixel) { return !in_core(pixel); });
      for (; bits != 0; bits &= bits - 1) {
        outside[kept++] = pixels[i + Kokkos::countr_zero(bits)];
      }
    }
    for (; i < n; ++i) {
      outside[kept] = pixels[i];
      kept += in_core(pixels[i]) ? 0 : 1;
    }
    T tail[host_segment];
    std::int64_t in_tail = 0;
    std::int64_t in_middle = 0;
    for (i = 0; i < kept; ++i) {
      const T x = outside[i];
      const bool middle = in_window(x);
      tail[in_tail] = x;
      outside[in_middle] = x;
      in_middle += middle ? 1 : 0;
      in_tail += !middle & Interval<T>{}.contains(x) ? 1 : 0;
    }
    value.window += in_middle;
    tails.append(tail, in_tail);
    if (!brackets.window_is_one_value()) window.append(outside, in_middle);
  }

  KOKKOS_FUNCTION void one_pixel(T x, Value& value) const {
    if (in_core(x)) {
      const double u = (static_cast<double>(x) - centre) * scale;
      value.sum.add(unbias(to_grid_biased(u), 1));
      value.squares.add(unbias(to_grid_biased(u * u), 1));
      if (x < brackets.window_low) {
        ++value.below;
      } else {
        ++value.above;
      }
    } else if (in_window(x)) {
      ++value.window;
      if (!brackets.window_is_one_value()) window.append(&x, 1);
    } else if (Interval<T>{}.contains(x)) {
      tails.append(&x, 1);
    }
  }
};

}  // namespace kastor::detail

#endif
