// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_SCENE_PIXELS_HPP
#define KASTOR_SIMULATE_SCENE_PIXELS_HPP

#include <Kokkos_Core.hpp>

#include "core/launch.hpp"
#include "core/random_normal.hpp"
#include "core/random_poisson.hpp"
#include "core/writable_rows.hpp"
#include "simulate/scene.hpp"

/// Kernels that change every pixel by itself. `first_row` is the row of the sky that lies in the
/// first row of the image.
namespace kastor::detail {

/// Before the sources: the noise as it varies, and the level.
template <class T>
struct ShapeNoise {
  Scene scene;
  std::int64_t first_row;
  core::WritableRows<T> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / image.nx;
    const std::int64_t x = i % image.nx;
    T& pixel = image.data[y * image.pitch + x];
    const auto at_x = static_cast<double>(x);
    const auto at_y = static_cast<double>(first_row + y);
    double value = scene.params.detector.gain > 0 ? 0 : static_cast<double>(pixel);
    if (!scene.has_even_noise()) value *= scene.noise_factor(at_x, at_y);
    pixel = static_cast<T>(value + scene.level(at_x, at_y));
  }
};

/// After the sources: counts of photons and the noise of the read-out.
template <class T>
struct CountPhotons {
  Scene scene;
  std::uint64_t photon_seed, read_seed;
  std::int64_t first_row;
  core::WritableRows<T> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    T& pixel = image.data[i / image.nx * image.pitch + i % image.nx];
    const Detector& detector = scene.params.detector;
    const auto counter = static_cast<std::uint64_t>(first_row * image.nx + i);
    const double mean = static_cast<double>(pixel) * detector.gain;
    double counts = core::random_poisson(mean, photon_seed, counter);
    if (detector.read_noise > 0)
      counts += detector.read_noise * core::random_normal(read_seed, counter);
    pixel = static_cast<T>(counts / detector.gain);
  }
};

template <class T>
struct HideUnobserved {
  Scene scene;
  std::int64_t first_row;
  core::WritableRows<T> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / image.nx;
    const std::int64_t x = i % image.nx;
    if (!scene.is_observed(static_cast<double>(x), static_cast<double>(first_row + y)))
      image.data[y * image.pitch + x] = static_cast<T>(scene.params.unobserved.value);
  }
};

}  // namespace kastor::detail

#endif
