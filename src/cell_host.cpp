// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/grid_magic.hpp>
#include <limits>
#include <type_traits>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

template <class T, int Bytes>
struct Lanes {
  static constexpr int lanes = Bytes / sizeof(T);
  using Int = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  using Pixels [[gnu::vector_size(Bytes)]] = T;
  using Counts [[gnu::vector_size(Bytes)]] = Int;
};

#define KASTOR_LOOPS "cell_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

template <class T>
void extent_at(HostLevel level, T low, T high, const T* pixels, std::int64_t n,
               HostExtent<T>& result) {
  KASTOR_RETURN_AT_LEVEL(level, extent<T>(low, high, pixels, n / cell_block, result));
}

template <class T>
void copy_finite_at(HostLevel level, const HostRows<T>& rows, T* to, HostExtent<T>& result) {
  KASTOR_RETURN_AT_LEVEL(level, copy_finite<T>(rows, to, result));
}

}  // namespace

template <class T>
HostExtent<T> copy_finite_on_host(HostLevel level, const HostRows<T>& rows, T* to) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  HostExtent<T> result{0, infinity, -infinity};
  copy_finite_at(level, rows, to, result);
  return result;
}

template <class T>
HostExtent<T> extent_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  HostExtent<T> result{0, infinity, -infinity};
  extent_at(level, low, high, pixels, n, result);
  return result;
}

template <class T>
void count_below_on_host(HostLevel level, const T (&threshold)[3], const T* pixels, std::int64_t n,
                         std::int64_t (&below)[3]) {
  KASTOR_RETURN_AT_LEVEL(level, count_below<T>(threshold, pixels, n / cell_block, below));
}

template <class T>
void add_interval_on_host(HostLevel level, const T* pixels, std::int64_t n,
                          HostIntervalSums<T>& sums) {
  KASTOR_RETURN_AT_LEVEL(level, add_interval<T>(pixels, n, sums));
}

template <class T>
int take_between_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n, T* taken,
                         int room) {
  KASTOR_RETURN_AT_LEVEL(level, take_between<T>(low, high, pixels, n / cell_block, taken, room));
}

template <class T>
void sort_on_host(HostLevel level, T* pixels, int n, T* sorted) {
  KASTOR_RETURN_AT_LEVEL(level, sort_small<T>(pixels, n, sorted));
}

#define KASTOR_INSTANTIATE(T)                                                                     \
  template HostExtent<T> copy_finite_on_host<T>(HostLevel, const HostRows<T>&, T*);               \
  template HostExtent<T> extent_on_host<T>(HostLevel, T, T, const T*, std::int64_t);              \
  template void count_below_on_host<T>(HostLevel, const T(&)[3], const T*, std::int64_t,          \
                                       std::int64_t(&)[3]);                                       \
  template void add_interval_on_host<T>(HostLevel, const T*, std::int64_t, HostIntervalSums<T>&); \
  template int take_between_on_host<T>(HostLevel, T, T, const T*, std::int64_t, T*, int);         \
  template void sort_on_host<T>(HostLevel, T*, int, T*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
