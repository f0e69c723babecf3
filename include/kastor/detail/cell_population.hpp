// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CELL_POPULATION_HPP
#define KASTOR_DETAIL_CELL_POPULATION_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/moments.hpp>

/// What a clip asks of the pixels of a cell. Every answer is order-free.
namespace kastor::detail {

/// Of an interval's pixels, on a grid.
template <class Integer>
struct SumsOfInterval {
  Integer sum{}, squares{};
  std::int64_t count = 0;
  std::int64_t below = 0;  ///< good pixels below the interval

  KOKKOS_FUNCTION SumsOfInterval& operator+=(const SumsOfInterval& other) {
    sum += other.sum;
    squares += other.squares;
    count += other.count;
    below += other.below;
    return *this;
  }
};
using IntervalSums = SumsOfInterval<Int128>;
/// Of fewer than 2^18 pixels.
using ShortSums = SumsOfInterval<std::int64_t>;

/// Of an interval's pixels: infinities if there is none.
template <class T>
struct Extremes {
  T min, max;

  KOKKOS_FUNCTION Extremes& operator+=(const Extremes& other) {
    min = other.min < min ? other.min : min;
    max = other.max > max ? other.max : max;
    return *this;
  }
};

/// How many pixels are smaller than each of some thresholds.
struct CountsBelow {
  static constexpr int thresholds = 3;
  std::int64_t of[thresholds] = {};

  KOKKOS_FUNCTION CountsBelow& operator+=(const CountsBelow& other) {
    for (int i = 0; i < thresholds; ++i) of[i] += other.of[i];
    return *this;
  }
};

/// Pixels set aside to be put in order.
template <class T>
struct SmallList {
  static constexpr int room = 128;
  static constexpr int sample = 64;
  T found[room + 64];  ///< vectors may be written in whole
  T sorted[room];
  int count;
};

}  // namespace kastor::detail

template <>
struct Kokkos::reduction_identity<kastor::detail::IntervalSums> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::IntervalSums sum() { return {}; }
};
template <>
struct Kokkos::reduction_identity<kastor::detail::CountsBelow> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::CountsBelow sum() { return {}; }
};
template <class T>
struct Kokkos::reduction_identity<kastor::detail::Extremes<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::Extremes<T> sum() {
    return {Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
  }
};
template <class T>
struct Kokkos::reduction_identity<kastor::detail::Extent<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static kastor::detail::Extent<T> sum() {
    return {0, Kokkos::Experimental::infinity_v<T>, -Kokkos::Experimental::infinity_v<T>};
  }
};

#endif
