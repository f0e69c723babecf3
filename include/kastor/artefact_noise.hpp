// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_ARTEFACT_NOISE_HPP
#define KASTOR_ARTEFACT_NOISE_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/island.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <span>

namespace kastor {

/// Parameters of `ArtefactNoise`.
struct ArtefactNoiseParams {
  /// Islands with a higher peak are bright: artefacts around them are looked for [rms, > 0]
  double min_snr = 200;
  double beam_width = 4;  ///< FWHM of the beam; its geometric mean if it is not round [pixel, > 0]
  double radius = 12;  ///< how far from a bright peak the noise may be raised [beam widths, >= 0]
};

/// What the last call of `ArtefactNoise` did.
struct ArtefactNoiseSummary {
  std::int64_t bright = 0;         ///< islands above `min_snr`
  std::int64_t raised_pixels = 0;  ///< pixels of the map whose noise was raised
  double largest_factor = 1;       ///< by which the noise of a pixel was raised, >= 1
};

/// Raises the noise around bright sources to the level of the artefacts there (side lobes,
/// calibration errors), which a mesh of large cells cannot follow.
///
/// Artefacts are as often below the background as above it, whereas sources are only above it. So
/// the noise near a bright source is estimated from the pixels below the background alone: no
/// source raises it, however crowded the field. The image is divided into cells of side round(2
/// beam_width) pixels, at least 1. Let d = (level - value) / rms of a usable pixel. Gaussian noise
/// of that rms has a mean d of sqrt(2 / pi) where d > 0, so over a window of 2 x 2 cells f =
/// sqrt(pi / 2) mean(d) is the factor by which the true noise exceeds the map. (The mean of d,
/// unlike that of its square, is not ruled by few deep pixels.) A cell lies in four windows. Its
/// factor is the least of their f, but at least 1: of the windows at the border of an artefact one
/// lies outside, so that the noise is raised where the artefacts are and not beside them (the idea
/// of edge-preserving smoothing, Nagao and Matsuyama 1979), and chance, too, seldom raises it. A
/// window counts if at least 1/8 of its 4 side^2 pixels have d > 0; if none counts, and farther
/// than `radius` beam widths from the peaks of all bright islands (to the centre of the cell), the
/// factor is 1. Between the centres of cells it is bilinear, beyond them constant; the new map is
/// the old one times the factor, rounded once to T.
///
/// Sums are integers (d in units of 2^-20, capped at 2^10), so the bits are the same on every
/// backend, for any number of threads and any split into bands. Without a bright island the
/// background is returned as it is. Owns its work space: repeated calls on images of one size
/// allocate nothing. Use one object per execution space instance; do not share it between threads.
///
/// The idea of a finer noise map near bright sources is that of PyBDSF (Mohan and Rafferty 2015,
/// ascl:1502.007), which takes a smaller box there.
template <class Exec, Real T>
class ArtefactNoise {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit ArtefactNoise(const Exec& space, const ArtefactNoiseParams& params = {});
  ~ArtefactNoise();
  ArtefactNoise(ArtefactNoise&&) noexcept;
  ArtefactNoise& operator=(ArtefactNoise&&) noexcept;

  /// The background with the raised noise, as an image that the next call overwrites. `islands`:
  /// what was found above `background` [their `snr_peak` and peak pixels count]. `region`: pixels
  /// whose bit is 0 are not used; an empty mask selects all pixels. Fences the instance given at
  /// construction if an island is bright.
  /// \throws Error if a map, the region or a peak does not fit the image.
  [[nodiscard]] Background<Exec, T> operator()(const ConstImage<T, Exec>& image,
                                               const Background<Exec, T>& background,
                                               std::span<const Island> islands,
                                               const BitMask<Exec>& region = {});
  /// The same for an image in bands of whole rows.
  [[nodiscard]] Background<Exec, T> operator()(Bands<T, Exec> bands,
                                               const Background<Exec, T>& background,
                                               std::span<const Island> islands,
                                               const BitMask<Exec>& region = {});
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  [[nodiscard]] Background<Exec, T> operator()(const V& image,
                                               const Background<Exec, T>& background,
                                               std::span<const Island> islands,
                                               const BitMask<Exec>& region = {}) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), background, islands, region);
  }

  /// Of the last call.
  [[nodiscard]] const ArtefactNoiseSummary& summary() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

}  // namespace kastor

#endif
