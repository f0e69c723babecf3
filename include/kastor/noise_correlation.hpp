// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_NOISE_CORRELATION_HPP
#define KASTOR_NOISE_CORRELATION_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>

namespace kastor {

/// How far the noise of an image is correlated from pixel to pixel.
struct NoiseCorrelation {
  /// Area of the autocorrelation: its sum over all lags, its value at lag 0 being 1 [pixel, >= 1].
  /// 1 for white noise; about the area of the beam for noise with the shape of the beam, twice
  /// that for white noise smoothed with the beam (Condon 1997). NaN if it could not be measured:
  /// too few pixels, or noise that is 0.
  double area = 1;
  double at_one = 0;       ///< mean correlation of neighbours along x and y [-1 to 1]
  std::int64_t pairs = 0;  ///< fewest pairs of pixels that a correlation was measured from
};

/// Measures the autocorrelation of the noise on a fixed sample of pixels: a stride apart so that
/// there are 10 to 40 thousand, all pixels in images below 200 x 200. z = (value - level) / rms,
/// with level and rms of the sampled pixel also for its partner.
///
/// A correlation is the slope of the partner's z over that of the sample. It does not depend on
/// which z of the samples take part, so these go from -3.5 to 1 only: hardly any source lies there,
/// nor the wings of one. The partner's |z| is below 3.5.
///
/// Of short correlations (below 0.2 at two pixels) the area is the sum over all lags of at most two
/// pixels along x and y, those aside that are consistent with 0 (3 standard errors); so it is 1
/// for white noise. Of longer ones it is that of an elliptical Gaussian, with a white part beside
/// it, that is fitted to the core (above 0.2). So neither faint sources nor slow changes of the
/// level matter much. Lags reach 64 pixels at most.
///
/// z is an integer in units of 1/1024, and its sums are integers: the same bits on every backend,
/// for any number of threads. `usable`: empty, or of the shape of the image; pixels whose bit is
/// not set are not used. Fences `space`.
/// \throws Error if the image has no pixels, or `usable` or a map has another shape.
template <class Exec, Real T>
[[nodiscard]] NoiseCorrelation measure_noise_correlation_in(const Exec& space,
                                                            const ConstImage<T, Exec>& image,
                                                            const Background<Exec, T>& background,
                                                            const BitMask<Exec>& usable);

/// The same for any View that keeps the layout contract.
template <class Exec, class V>
[[nodiscard]] NoiseCorrelation measure_noise_correlation(
    const Exec& space, const V& image, const Background<Exec, PixelOf<Exec, V>>& background,
    const BitMask<Exec>& usable = {}) {
  return measure_noise_correlation_in<Exec, PixelOf<Exec, V>>(space, as_const_image<Exec>(image),
                                                              background, usable);
}

}  // namespace kastor

#endif
