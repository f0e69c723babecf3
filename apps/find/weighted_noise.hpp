// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_WEIGHTED_NOISE_HPP
#define KASTOR_APPS_FIND_WEIGHTED_NOISE_HPP

#include <kastor/background.hpp>
#include <kastor/image.hpp>
#include <kastor/island_maps.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>

namespace kastor::cli {

/// The noise of an image whose relative weights w are known: a mesh of the noise of (value - level)
/// sqrt(w), which is even where the weights say all, over sqrt(w). So the mesh takes no part in
/// what changes within a cell, and the weights need no scale: on average over a cell the noise is
/// that of its own pixels. (SExtractor scales all weights by one factor.)
template <class Exec, class T>
class WeightedNoise {
 public:
  WeightedNoise(const Exec& space, const BackgroundParams& mesh)
      : m_space(space), m_estimator(space, mesh) {}

  /// \param root   sqrt(w)
  /// \param noise  1 / sqrt(w)
  /// The map is valid until the next call. \throws Error as BackgroundEstimator
  [[nodiscard]] PixelMap<Exec, T> operator()(const ConstImage<T, Exec>& pixels,
                                             const PixelMap<Exec, T>& level,
                                             const ConstImage<T, Exec>& root,
                                             const ConstImage<T, Exec>& noise,
                                             const BitMask<Exec>& excluded) {
    if (m_noise.extent(0) != pixels.extent(0) || m_noise.extent(1) != pixels.extent(1)) {
      const auto ny = pixels.extent(0);
      const auto nx = pixels.extent(1);
      m_even = m_noise = {};
      m_even = new_image(ny, nx);
      m_noise = new_image(ny, nx);
    }
    const ConstImage<T, Exec> even(m_even);
    fill_snr_map<Exec, T>(m_space, pixels, {level, PixelMap<Exec, T>(noise)}, m_even);
    const auto mesh = m_estimator(even, excluded);
    fill_map<Exec, T>(m_space, PixelMap<Exec, T>(mesh.rms), m_even);
    // Divided by sqrt(w).
    fill_snr_map<Exec, T>(m_space, even, {PixelMap<Exec, T>(0), PixelMap<Exec, T>(root)}, m_noise);
    return PixelMap<Exec, T>(ConstImage<T, Exec>(m_noise));
  }
  /// Of the last call: the rms is that of the median weight. \throws Error as BackgroundEstimator
  [[nodiscard]] BackgroundSummary summary() { return m_estimator.summary(); }

 private:
  [[nodiscard]] Image<T, Exec> new_image(std::size_t ny, std::size_t nx) const {
    return Image<T, Exec>(
        Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, "kastor::app::weighted_noise"), ny,
        nx);
  }

  Exec m_space;
  BackgroundEstimator<Exec, T> m_estimator;
  Image<T, Exec> m_even, m_noise;
};

}  // namespace kastor::cli

#endif
