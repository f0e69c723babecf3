// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_NOISE_SAMPLES_HPP
#define KASTOR_BACKGROUND_NOISE_SAMPLES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>

#include "background/noise_area.hpp"
#include "core/raster_walk.hpp"

/// The sampled pixels of an image, and the sums over pairs of them and others at some lags.
namespace kastor::detail {

/// Deviations in units of 1/1024 of the noise.
using NoiseUnit = std::int32_t;
inline constexpr NoiseUnit no_noise = INT32_MIN;
inline constexpr double noise_unit = 1024;
inline constexpr double widest_deviation = 3.5;    ///< of both pixels of a pair [rms]
inline constexpr double highest_of_samples = 1.0;  ///< of the sampled one [rms]

/// The deviation of a pixel; `no_noise` if it is too large or not a number.
[[nodiscard]] KOKKOS_INLINE_FUNCTION NoiseUnit noise_units(double value, double level, double rms) {
  const double z = (value - level) / rms;
  if (!(z > -widest_deviation && z < widest_deviation)) return no_noise;
  return static_cast<NoiseUnit>(z * noise_unit + (z < 0 ? -0.5 : 0.5));
}

/// Pixels at a stride along x and y.
struct NoiseGrid {
  std::int64_t first_y = 0, first_x = 0, step = 1, ny = 0, nx = 0;
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t y(std::int64_t row) const {
    return first_y + row * step;
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t x(std::int64_t column) const {
    return first_x + column * step;
  }
  [[nodiscard]] std::int64_t count() const { return ny * nx; }
};

/// What is known of a sampled pixel.
struct NoiseSample {
  double level, rms;
  NoiseUnit z;
};

template <class Exec>
struct NoiseMask {
  const std::uint64_t* words;  ///< null: all pixels are usable
  std::int64_t words_per_row;
  [[nodiscard]] KOKKOS_FUNCTION bool operator()(std::int64_t y, std::int64_t x) const {
    return words == nullptr || ((words[y * words_per_row + x / 64] >> (x % 64)) & 1U) != 0;
  }
};

template <class Exec, class T>
struct GatherNoise {
  Rows<T> rows;
  Background<Exec, T> background;
  NoiseMask<Exec> usable;
  NoiseGrid grid;
  NoiseSample* samples;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = core::quotient(i, grid.nx);
    const std::int64_t y = grid.y(row);
    const std::int64_t x = grid.x(i - row * grid.nx);
    NoiseSample sample{background.level(y, x), background.rms(y, x), no_noise};
    if (sample.rms > 0 && Kokkos::isfinite(sample.rms) && usable(y, x)) {
      const auto value = static_cast<double>(rows.data[y * rows.pitch + x]);
      sample.z = noise_units(value, sample.level, sample.rms);
      if (sample.z > static_cast<NoiseUnit>(highest_of_samples * noise_unit)) sample.z = no_noise;
    }
    samples[i] = sample;
  }
};

/// The sums of four lags.
struct NoiseSums {
  static constexpr int lags = 4;
  PairSums of[lags];
  KOKKOS_FUNCTION NoiseSums& operator+=(const NoiseSums& other) {
    for (int k = 0; k < lags; ++k) of[k] += other.of[k];
    return *this;
  }
};

template <class Exec, class T>
struct SumNoisePairs {
  using value_type = NoiseSums;
  Rows<T> rows;
  NoiseMask<Exec> usable;
  NoiseGrid grid;
  const NoiseSample* samples;
  NoiseLag lag[NoiseSums::lags];

  KOKKOS_FUNCTION void operator()(std::int64_t i, NoiseSums& sums) const {
    const NoiseSample sample = samples[i];
    if (sample.z == no_noise) return;
    const std::int64_t row = core::quotient(i, grid.nx);
    for (int k = 0; k < NoiseSums::lags; ++k) {
      const std::int64_t y = grid.y(row) + lag[k].dy;
      const std::int64_t x = grid.x(i - row * grid.nx) + lag[k].dx;
      if (y < 0 || x < 0 || y >= rows.ny || x >= rows.nx || !usable(y, x)) continue;
      const auto value = static_cast<double>(rows.data[y * rows.pitch + x]);
      const NoiseUnit z = noise_units(value, sample.level, sample.rms);
      if (z == no_noise) continue;
      const std::int64_t a = sample.z;
      const std::int64_t b = z;
      sums.of[k] += {1, a, b, a * a, a * b};
    }
  }
};

}  // namespace kastor::detail

#endif
