// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONSTANT_FILL_SAMPLES_HPP
#define KASTOR_CONSTANT_FILL_SAMPLES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/interval.hpp"
#include "core/ordered_key.hpp"

/// Samples of an image at fixed positions, and which of them repeat.
namespace kastor::detail {

/// Numbers that are so many units in the last place apart, or fewer, may be one constant.
inline constexpr int fill_gap = 8;

/// The samples' positions along one axis.
struct SampleAxis {
  std::int64_t first, step, count;
};

[[nodiscard]] inline SampleAxis sample_axis(std::int64_t n, std::int64_t step) {
  const std::int64_t first = std::min(step / 2, (n - 1) / 2);
  return {first, step, (n - 1 - first) / step + 1};
}

/// A stride of 16 pixels is longer than most beams, so neighbouring samples of noise are
/// independent. Small images need more samples, large ones no more than 512 x 512.
[[nodiscard]] inline std::int64_t sample_step(std::int64_t ny, std::int64_t nx) {
  const auto side =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(ny) * static_cast<double>(nx)));
  return std::max(std::clamp<std::int64_t>(side / 32, 4, 16), side / 512);
}

/// The samples of an image, (y, x), x fastest.
struct SampleGrid {
  SampleAxis y, x;

  SampleGrid(std::int64_t ny, std::int64_t nx)
      : y(sample_axis(ny, sample_step(ny, nx))), x(sample_axis(nx, sample_step(ny, nx))) {}
  [[nodiscard]] std::int64_t count() const { return y.count * x.count; }
};

template <class T>
struct GatherSamples {
  Rows<T> rows;
  SampleGrid grid;
  T* samples;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / grid.x.count;
    const std::int64_t y = grid.y.first + row * grid.y.step;
    const std::int64_t x = grid.x.first + (i - row * grid.x.count) * grid.x.step;
    samples[i] = rows.data[y * rows.pitch + x];
  }
};

/// Whether two pixels are finite and differ in their last digits at most.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_repeated(T a, T b) {
  if (!core::is_finite(a) || !core::is_finite(b)) return false;
  const auto k = core::key_of(a);
  const auto l = core::key_of(b);
  return (k < l ? l - k : k - l) <= fill_gap;
}

/// Whether the sample to the right or the one below repeats sample i.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool repeats(const T* samples, const SampleGrid& grid,
                                                  std::int64_t i) {
  const std::int64_t n = grid.y.count * grid.x.count;
  const bool right = (i + 1) % grid.x.count != 0 && is_repeated(samples[i], samples[i + 1]);
  return right || (i + grid.x.count < n && is_repeated(samples[i], samples[i + grid.x.count]));
}

template <class T>
struct CountRepeats {
  using value_type = std::int64_t;
  SampleGrid grid;
  const T* samples;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += repeats(samples, grid, i) ? 1 : 0;
  }
};

}  // namespace kastor::detail

#endif
