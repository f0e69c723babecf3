// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIMULATE_PROFILES_HPP
#define KASTOR_SIMULATE_PROFILES_HPP

#include <kastor/simulate.hpp>
#include <vector>

/// The profiles of sources with a peak of 1, on the host.
namespace kastor::detail {

/// A profile that depends on the distance from the centre alone, at steps of `step`; the first
/// value belongs to the distance -step.
struct RadialTable {
  std::vector<double> values;
  double step = 1;    ///< [pixel]
  double reach = 0;   ///< it is 0 beyond [pixel]
  double area = 0;    ///< sum over all pixels [pixel]
  double square = 0;  ///< sum of its square over all pixels [pixel]
};

/// `RadialTable::reach`.
[[nodiscard]] double radial_reach(double diameter, double beam_fwhm);

/// A uniform disk, or a ring, of this diameter, convolved with the beam. Both are sums over chords
/// along x, which the beam makes an error function each.
[[nodiscard]] RadialTable radial_table(SourceShape shape, double diameter, double beam_fwhm);

/// The scale a of a Moffat profile of exponent 3.5.
[[nodiscard]] double moffat_scale(double fwhm);

/// Sum over all pixels, and sum of the square, of a profile with a peak of 1.
struct ProfileSums {
  double area = 0;    ///< [pixel]
  double square = 0;  ///< [pixel]
};
[[nodiscard]] ProfileSums profile_sums(SourceShape shape, double major, double minor,
                                       double beam_fwhm);

/// Of two lobes: FWHM of each, and distance of each from the centre.
[[nodiscard]] constexpr double lobe_fwhm(double extent) { return 0.3 * extent; }
[[nodiscard]] constexpr double lobe_offset(double extent) { return 0.3 * extent; }
/// The height of each lobe where the peak of their sum is 1.
[[nodiscard]] double lobe_height();

}  // namespace kastor::detail

#endif
