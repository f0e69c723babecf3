// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/grid_magic.hpp>
#include <limits>
#include <type_traits>

#include "appender.hpp"
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
void copy_rows_on_host(HostLevel level, const HostRows<T>& rows, T* to, HostCopied<T>& copied) {
  KASTOR_RETURN_AT_LEVEL(level, copy_rows<T>(rows, to, copied));
}

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
void split_on_host(HostLevel level, const HostSplit<T>& split, const T* pixels, std::int64_t n,
                   HostCellLists<T>& lists) {
  KASTOR_RETURN_AT_LEVEL(level, split<T>(split, pixels, n / cell_block, lists));
}

template <class T>
void add_all_on_host(HostLevel level, const T* pixels, std::int64_t n, HostIntervalSums<T>& sums) {
  KASTOR_RETURN_AT_LEVEL(level, add_all<T>(pixels, n / cell_block, sums));
}

template <class T>
void add_interval_on_host(HostLevel level, const T* pixels, std::int64_t n,
                          HostIntervalSums<T>& sums) {
  KASTOR_RETURN_AT_LEVEL(level, add_interval<T>(pixels, n / cell_block, sums));
}

template <class T>
void add_leaving_on_host(HostLevel level, const T* pixels, std::int64_t n,
                         HostLeaving<T>& leaving) {
  KASTOR_RETURN_AT_LEVEL(level, add_leaving<T>(pixels, n / cell_block, leaving));
}

template <class T>
void take_on_host(HostLevel level, const T* pixels, std::int64_t n, HostTaking<T>& taking, T* taken,
                  std::int64_t room) {
  KASTOR_RETURN_AT_LEVEL(level, take<T>(pixels, n / cell_block, taking, taken, room));
}

template <class T>
void sort_on_host(HostLevel level, T* pixels, int n, T* sorted) {
  KASTOR_RETURN_AT_LEVEL(level, sort_small<T>(pixels, n, sorted));
}

#define KASTOR_INSTANTIATE(T)                                                                     \
  template void copy_rows_on_host<T>(HostLevel, const HostRows<T>&, T*, HostCopied<T>&);          \
  template HostExtent<T> copy_finite_on_host<T>(HostLevel, const HostRows<T>&, T*);               \
  template HostExtent<T> extent_on_host<T>(HostLevel, T, T, const T*, std::int64_t);              \
  template void split_on_host<T>(HostLevel, const HostSplit<T>&, const T*, std::int64_t,          \
                                 HostCellLists<T>&);                                              \
  template void add_all_on_host<T>(HostLevel, const T*, std::int64_t, HostIntervalSums<T>&);      \
  template void add_interval_on_host<T>(HostLevel, const T*, std::int64_t, HostIntervalSums<T>&); \
  template void add_leaving_on_host<T>(HostLevel, const T*, std::int64_t, HostLeaving<T>&);       \
  template void take_on_host<T>(HostLevel, const T*, std::int64_t, HostTaking<T>&, T*,            \
                                std::int64_t);                                                    \
  template void sort_on_host<T>(HostLevel, T*, int, T*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
