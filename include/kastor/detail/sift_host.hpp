// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SIFT_HOST_HPP
#define KASTOR_DETAIL_SIFT_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// Pixels of a clip's tails by where they lie, on a host. Knows nothing of Kokkos, so that it is
/// always compiled as plain C++, for several instruction sets.
namespace kastor::detail {

/// Where the second and the third of the octaves begin that pixels are sifted by, from the centre
/// outwards: `low[1] <= low[0] < centre <= high[0] <= high[1]`.
template <class T>
struct TailBounds {
  T centre;  ///< pixels below it are of the lower tail
  T low[2], high[2];
  int first_octave[2];  ///< of the lower and the upper tail
};

/// Pixels of few octaves, where most are, in lists of their own.
template <class T>
struct SiftedTails {
  static constexpr std::int64_t most_pixels = 1024;  ///< sifted at once
  static constexpr int near = 4;          ///< two octaves of the lower tail, then of the upper
  static constexpr int lists = near + 1;  ///< the last holds the others
  std::int64_t n[lists];
  T list[lists][most_pixels + 64];
};

/// Sifts n pixels, whole blocks of 64 and no more than `most_pixels`; NaN go nowhere. The same at
/// every level.
template <class T>
void sift_on_host(HostLevel level, const TailBounds<T>& bounds, const T* pixels, std::int64_t n,
                  SiftedTails<T>& sifted);

}  // namespace kastor::detail

#endif
