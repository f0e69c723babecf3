// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_EXTENDED_PROFILE_HPP
#define KASTOR_SRC_IO_CATALOGUE_EXTENDED_PROFILE_HPP

#include <kastor/island.hpp>

#include "io/catalogue/island_errors.hpp"

namespace kastor::io::detail {

/// The whole of an extended source, of which the island is the part above the threshold.
struct ExtendedProfile {
  double total;        ///< its flux, summed over pixels [image unit]
  double size_factor;  ///< its width / width from the second moments above the threshold, >= 1
};

/// Whether the island is so large that its pixels tell its profile: 100 areas of the beam and of
/// the noise's autocorrelation. Never without a beam.
[[nodiscard]] bool is_extended(const Island& island, const NoiseModel& noise);

/// Takes the profile for p exp(-(r / a)^(2 / beta)), stretched: a disk (beta = 0), a Gaussian (1),
/// or what is between them. A more peaked one counts as a Gaussian, since a blend of unequal
/// sources looks like that, too. With L = ln(p / F) and P the regularised lower incomplete gamma
/// function, the N pixels above F have the sum S with
///   S / (p N) = beta Gamma(beta) P(beta, L) / L^beta,
/// which falls with beta and so gives it; the flux of the whole is S / P(beta, L), and the factor
/// of the sizes is sqrt(P(beta, L) / P(2 beta, L)). p is the brightest pixel less what noise adds
/// to the largest of n independent pixels, rms sqrt(2 ln n), where n is the number of areas of the
/// noise within one rms of the peak of a Gaussian, A rms / (p C). Where less than F / 0.9 would be
/// left, the flux above the threshold is all that is known.
/// \param peak   brightest pixel, corrected for sampling [image unit]
/// \param flood  lowest deviation of the island's pixels, below 0.9 of the peak [image unit]
[[nodiscard]] ExtendedProfile extended_profile(const Island& island, double peak, double flood,
                                               const NoiseModel& noise);

}  // namespace kastor::io::detail

#endif
