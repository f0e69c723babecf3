// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_SKY_HPP
#define KASTOR_APPS_BENCH_SKY_HPP

#include <kastor/threshold.hpp>
#include <variant>

#include "bench/steps.hpp"
#include "bench/stopwatch.hpp"

namespace kastor::bench {

/// The sky on one backend, and the means to time a step on it.
template <class Exec, class T>
struct Sky {
  Exec space;
  std::int64_t size;  ///< [pixel]
  io::HostPixels<T> host;
  Image<T, Exec> image;  ///< on CPU backends, `host` itself
  double level;          ///< the threshold of the segmentation
  Stopwatch<Exec> watch;

  using real = T;
  using exec = Exec;

  [[nodiscard]] std::int64_t pixels() const { return size * size; }
  [[nodiscard]] double image_bytes() const {
    return static_cast<double>(pixels()) * static_cast<double>(sizeof(T));
  }
  [[nodiscard]] ConstImage<T, Exec> pixels_view() const { return as_const_image<Exec>(image); }
  /// Copies the sky to the device.
  [[nodiscard]] auto upload() const {
    return [this] { Kokkos::deep_copy(space, image, host); };
  }
};

/// Calls `visit(sky)` on the backend of that name.
template <class Visitor>
[[nodiscard]] Measured on_sky(const std::string& backend, const Images& images,
                              const TimingRules& rules, const Visitor& visit) {
  return on_backend<Measured>(backend, [&](const auto& space) {
    using Exec = std::decay_t<decltype(space)>;
    return std::visit(
        [&](const auto& host) {
          using T = typename std::decay_t<decltype(host)>::non_const_value_type;
          const Image<T, Exec> image = cli::readable_on(space, host);
          return visit(Sky<Exec, T>{space, images.size, host, image, images.level,
                                    Stopwatch<Exec>(space, rules)});
        },
        images.sky);
  });
}

/// The bytes of a mask, with 1 bit per pixel.
template <class Exec>
[[nodiscard]] double mask_bytes(const BitMask<Exec>& mask) {
  return 8 * static_cast<double>(mask.words.size());
}

}  // namespace kastor::bench

#endif
