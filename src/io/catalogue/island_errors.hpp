// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_ISLAND_ERRORS_HPP
#define KASTOR_SRC_IO_CATALOGUE_ISLAND_ERRORS_HPP

#include <kastor/island.hpp>

#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

/// What the errors of an island depend on besides the island itself [pixel], [image unit].
struct NoiseModel {
  double noise_pixels = 1;  ///< area of the noise's autocorrelation: integral / central value
  double beam_pixels = 0;   ///< area of the beam, a lower limit for sources; 0: not known
  /// Noise in which the islands were found, after the filter, that of the image being 1. Unless it
  /// is 1, the threshold says little of the pixels along the border.
  double filtered = 1;
};

/// Errors of one standard deviation, and the flux below the threshold. NaN: not known.
///
/// Noise of variance s^2 and Gaussian autocorrelation of area C changes the sum of an island's
/// pixels in two ways: by its own sum over the N pixels, and because the border moves. A Gaussian
/// of area A (integral / peak) gains A pixels of value F when the threshold F falls by a factor e.
/// So the border contributes A x the mean noise along it. To first order in the noise, for a
/// circular Gaussian (or one that stretching the image makes circular), with E_n = exp(-z) I_n(z)
/// and z = 2 N / C:
///   var(sum) = s^2 [ N C (1 - E_0 - E_1) + A C (1 - E_0) + A^2 E_0 ],
///   var(x) = s^2 / sum^2 [ N^2 C / (4 pi) (1 - E_0 - 2 E_1 - E_2)
///                        + A N C / (2 pi) (1 - E_0 - 2 E_1) + A^2 N / (2 pi) E_1 ].
/// Without the border's contribution and for N >> C the first is s^2 N C. With the beam area for C
/// this is PyBDSF's error rms sqrt(N / beam area). A is sum / (peak - F), which is exact for a
/// Gaussian.
///
/// Pixels add the scatter of a border that follows whole pixels. The number of pixel centres in a
/// circle of radius R has the variance 0.4576 R (Kendall 1948), hence var(sum) gains 0.4576 F^2 R
/// and var(x) 0.4576 F^2 R^3 / (2 sum^2), with R = sqrt(N / pi). It matters where noise does
/// little: for white noise, and bright sources.
///
/// A Gaussian has the flux F A below the threshold, so total = sum + F A (Aegean's island flux
/// divides by eta = 1 - F / peak; SExtractor's FLUX_ISOCOR is similar). Noise that lifts pixels
/// above the threshold adds A s^2 / F on average, which is subtracted. The peak is raised by the
/// fraction pi / (6 A), which is what sampling at pixel centres loses on average for a Gaussian
/// (4 ln 2 / (6 FWHM^2)).
///
/// The loss d^T M^-1 d / 2 of a Gaussian of second moments M whose peak lies at d from the centre
/// of the brightest pixel, anywhere in it, has the variance (m_xx^2 + m_yy^2) / 720 + m_xy^2 / 144
/// with m = M^-1; the error of the peak is the root of the sum of that and of the noise's variance.
/// No second moment counts as less than that of a round Gaussian of 4 pixels.
///
/// A filter before detection makes islands wider than the threshold says. Then their N pixels tell
/// what they hold of a Gaussian, S = p A (1 - exp(-N / A)), which gives A and the total p A.
struct IslandErrors {
  double peak_err;       ///< error of |flux_peak|, its mean loss left aside [image unit]
  double sum_err;        ///< error of |flux_sum| [image unit]
  double total;          ///< |flux_sum| plus the flux below the threshold [image unit]
  double total_err;      ///< error of total [image unit]
  double size_factor;    ///< true width / width from the second moments above the threshold, >= 1
  Symmetric centre_cov;  ///< covariance of the centre [pixel^2]
};

/// \param flood  lowest deviation of the island's pixels [image unit]; not known if not > 0
[[nodiscard]] IslandErrors island_errors(const Island& island, double flood,
                                         const NoiseModel& noise);

/// exp(-z) I_n(z), the modified Bessel function of the first kind, n = 0, 1, 2, z >= 0; relative
/// error below 1e-11.
[[nodiscard]] double scaled_bessel(int n, double z);

}  // namespace kastor::io::detail

#endif
