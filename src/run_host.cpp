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

template <class T>
void sum_side_by_side_at(HostLevel level, FourRuns<T>& runs, std::int64_t n) {
  KASTOR_RETURN_AT_LEVEL(level, sum_side_by_side<T>(runs, n));
}

}  // namespace

template <class T>
RunExtremes<T> extremes_on_host(HostLevel level, const T* pixels, std::int64_t n) {
  KASTOR_RETURN_AT_LEVEL(level, extremes<T>(pixels, n));
}

template <class T>
std::int64_t find_on_host(HostLevel level, T value, const T* pixels, std::int64_t n) {
  KASTOR_RETURN_AT_LEVEL(level, find<T>(value, pixels, n));
}

template <class T>
void sum_runs_on_host(HostLevel level, FourRuns<T>& runs) {
  std::fill(runs.flux, runs.flux + 4, 0.0);
  std::fill(runs.x_moment, runs.x_moment + 4, 0.0);
  const std::int64_t together = *std::min_element(runs.n, runs.n + 4) / 4 * 4;
  if (together > 0) sum_side_by_side_at(level, runs, together);
  for (int r = 0; r < 4; ++r) {
    double flux = runs.flux[r], x_moment = runs.x_moment[r];
    for (std::int64_t i = together; i < runs.n[r]; ++i) {
      const double v = static_cast<double>(runs.pixels[r][i]) * runs.scale[r] * runs.scale_more[r];
      flux += v;
      x_moment += v * (runs.x[r] + static_cast<double>(i));
    }
    runs.flux[r] = flux;
    runs.x_moment[r] = x_moment;
  }
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
  template RunExtremes<T> extremes_on_host<T>(HostLevel, const T*, std::int64_t);       \
  template std::int64_t find_on_host<T>(HostLevel, T, const T*, std::int64_t);          \
  template void sum_runs_on_host<T>(HostLevel, FourRuns<T>&);                           \
  template std::int64_t take_out_on_host<T>(HostLevel, const T*, int, T*, std::int64_t, \
                                            std::int64_t*);
KASTOR_INSTANTIATE(float)
KASTOR_INSTANTIATE(double)

}  // namespace kastor::detail
