// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_KRON_FLUX_HPP
#define KASTOR_KRON_FLUX_HPP

#include <cstdint>

namespace kastor {

/// What is to be known of an aperture; bits of `KronFlux::flags`.
enum KronFlag : std::uint32_t {
  kron_crowded = 1,      ///< more than a tenth of the pixels are blank or of islands that are kept
  kron_at_edge = 2,      ///< the image ends within the aperture
  kron_no_aperture = 4,  ///< the island has no centre, or no pixel can be used: no figures
};

/// The light of an island within its aperture.
struct KronFlux {
  std::int64_t id;          ///< of the island
  double flux;              ///< sum of value - level [image unit]; NaN with kron_no_aperture
  double variance;          ///< of `flux` for noise that differs from pixel to pixel [image unit^2]
  double radius;            ///< of the aperture, in units of `a` and `b`
  double a;                 ///< standard deviation of the light along the major axis [pixel]
  double b;                 ///< standard deviation of the light along the minor axis [pixel]
  std::int64_t n_pix;       ///< pixels of the image within the aperture
  std::int64_t n_mirrored;  ///< of these, pixels replaced by their mirror images
  std::int64_t n_missing;   ///< of these, pixels left out
  std::uint32_t flags;      ///< bits of `KronFlag`
};

}  // namespace kastor

#endif
