// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <kastor/detail/run_host.hpp>

#include "plain_vectors.hpp"
#include "x86_vectors.hpp"

namespace kastor::detail {
namespace {

#define KASTOR_LOOPS "run_host_loop.hpp"
#include "loops_at_levels.hpp"
#undef KASTOR_LOOPS

template <class T>
std::int64_t take_out_at(HostLevel level, const T* values, int of_values, T* pixels,
                         std::int64_t blocks, std::int64_t* counts) {
  KASTOR_RETURN_AT_LEVEL(level, take_out<T>(values, of_values, pixels, blocks, counts));
}

}  // namespace

template <class T>
void extremes_on_host(HostLevel level, ExtremesOfRuns<T>& runs) {
  KASTOR_RETURN_AT_LEVEL(level, extremes<T>(runs));
}

template <class T>
void extremes_and_sums_on_host(HostLevel level, SummedRuns<T>& runs) {
  KASTOR_RETURN_AT_LEVEL(level, extremes_and_sums<T>(runs));
}

template <class T>
std::int64_t find_on_host(HostLevel level, T value, const T* pixels, std::int64_t n) {
  KASTOR_RETURN_AT_LEVEL(level, find<T>(value, pixels, n));
}

template <class T>
void sum_runs_on_host(HostLevel level, SumsOfRuns<T>& runs) {
  for (int r = runs.used; r % 4 != 0; ++r) {
    runs.pixels[r] = runs.pixels[0];
    runs.n[r] = 0;
  }
  KASTOR_RETURN_AT_LEVEL(level, sum_runs<T>(runs));
}

template <class T>
std::int64_t take_out_on_host(HostLevel level, const T* values, int of_values, T* pixels,
                              std::int64_t n, std::int64_t* counts) {
  const std::int64_t blocks = n / 64;
  std::int64_t kept = take_out_at(level, values, of_values, pixels, blocks, counts);
  for (std::int64_t i = 64 * blocks; i < n; ++i) {
    const T* const found = std::find(values, values + of_values, pixels[i]);
    if (found == values + of_values) {
      pixels[kept++] = pixels[i];
    } else {
      ++counts[found - values];
    }
  }
  return kept;
}

#define KASTOR_INSTANTIATE(T)                                                           \
  template void extremes_on_host<T>(HostLevel, ExtremesOfRuns<T>&);                     \
  template void extremes_and_sums_on_host<T>(HostLevel, SummedRuns<T>&);                \
  template std::int64_t find_on_host<T>(HostLevel, T, const T*, std::int64_t);          \
  template void sum_runs_on_host<T>(HostLevel, SumsOfRuns<T>&);                         \
  template std::int64_t take_out_on_host<T>(HostLevel, const T*, int, T*, std::int64_t, \
                                            std::int64_t*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
