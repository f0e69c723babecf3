// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_ISLAND_ERRORS_HPP
#define KASTOR_SRC_IO_CATALOGUE_ISLAND_ERRORS_HPP

#include <kastor/island.hpp>

#include "io/sky/sky_geometry.hpp"

namespace kastor::io::detail {

/// What the errors of an island depend on besides the island [pixel], [image unit].
struct NoiseModel {
  double noise_pixels = 1;  ///< area of the noise's autocorrelation: integral / central value
  double beam_pixels = 0;   ///< area of the beam, which no source falls short of; 0: not known
};

/// Errors of one standard deviation, and what the pixels below the threshold hold. NaN: not known.
///
/// Noise of variance s^2 and Gaussian autocorrelation of area C changes the sum of an island's
/// pixels twice: by its sum over the N pixels, and because the border moves. A Gaussian of area A
/// (integral / peak) gains A pixels of value F as the threshold F falls by a factor e, so the
/// border's part is A x the mean noise along it. To first order in the noise, for a Gaussian that
/// is round (or is when the image is stretched so), with E_n = exp(-z) I_n(z) and z = 2 N / C,
///   var(sum) = s^2 [ N C (1 - E_0 - E_1) + A C (1 - E_0) + A^2 E_0 ],
///   var(x) = s^2 / sum^2 [ N^2 C / (4 pi) (1 - E_0 - 2 E_1 - E_2)
///                        + A N C / (2 pi) (1 - E_0 - 2 E_1) + A^2 N / (2 pi) E_1 ].
/// Without the border's part and for N >> C the first is s^2 N C: PyBDSF's rms sqrt(N / beam area)
/// with C the beam area. A is sum / (peak - F), exact for a Gaussian.
///
/// A Gaussian has F A below the threshold, so total = sum + F A (Aegean's island flux divides by
/// eta = 1 - F / peak, SExtractor's FLUX_ISOCOR is of the same kind). Noise that lifts pixels over
/// the threshold adds A s^2 / F on average, which is taken off. The peak is raised by pi / (6 A) of
/// itself, what a Gaussian loses on average by being seen in the middle of a pixel.
struct IslandErrors {
  double sum_err;        ///< of |flux_sum| [image unit]
  double total;          ///< |flux_sum| with what is below the threshold [image unit]
  double total_err;      ///< [image unit]
  double size_factor;    ///< true width / width by the second moments above the threshold, >= 1
  Symmetric centre_cov;  ///< covariance of the centre [pixel^2]
};

/// \param flood  lowest deviation of the island's pixels [image unit]; not > 0: not known
[[nodiscard]] IslandErrors island_errors(const Island& island, double flood,
                                         const NoiseModel& noise);

/// exp(-z) I_n(z), the modified Bessel function of the first kind, n = 0, 1, 2, z >= 0; relative
/// error below 1e-11.
[[nodiscard]] double scaled_bessel(int n, double z);

}  // namespace kastor::io::detail

#endif
