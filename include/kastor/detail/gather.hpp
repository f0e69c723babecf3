// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_HPP
#define KASTOR_DETAIL_GATHER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/scan_host.hpp>
#include <limits>

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
      KOKKOS_IF_ON_HOST((scan(pixels, n, value);))
    } else {
      for (std::int64_t i = 0; i < n; ++i) one_pixel(pixels[i], value);
    }
  }

 private:
  void scan(const T* pixels, std::int64_t n, Value& value) const {
    T in_tails[host_segment + 16];
    T in_window[host_segment + 16];
    HostLists<T> lists{in_tails, in_window};
    HostScanSums sums;
    scan_on_host(best_host_level(),
                 HostScan<T>{brackets.low_edge, brackets.high_edge, brackets.window_low,
                             brackets.window_high, brackets.centre, centre, scale,
                             std::numeric_limits<T>::infinity()},
                 pixels, n, sums, lists, nullptr);
    // The window's pixels are not of the core.
    for (std::int64_t i = 0; i < lists.in_window; ++i) {
      const double u = (static_cast<double>(in_window[i]) - centre) * scale;
      sums.sum -= static_cast<std::uint64_t>(unbias(to_grid_biased(u), 1));
      sums.squares -= static_cast<std::uint64_t>(unbias(to_grid_biased(u * u), 1));
    }
    value.below += sums.below;
    value.above += sums.inside - sums.below - lists.in_window;
    value.window += lists.in_window;
    value.sum.add(unbias(sums.sum, n));
    value.squares.add(unbias(sums.squares, n));
    tails.append(in_tails, lists.in_tails);
    if (!brackets.window_is_one_value()) window.append(in_window, lists.in_window);
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
