// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SAMPLE_HOST_HPP
#define KASTOR_DETAIL_SAMPLE_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// Bins of a clip's sample, many at once, on a host. Knows nothing of Kokkos, so that it is always
/// compiled as plain C++, for several instruction sets.
namespace kastor::detail {

/// Bins over t = (x - centre) * per_unit, on both sides of t = 0, `side` of them on each: `fine` up
/// to |t| = 1, 64 a unit from there on.
struct NearBins {
  double centre, per_unit;
  int fine, side;
  static constexpr int reach = 16;  ///< |t|; what lies farther off, and NaN, is in bin `beyond`
  [[nodiscard]] constexpr int beyond() const { return fine + 64 * (reach - 1); }
};

/// For n pixels; -beyond - 1 or beyond, counted from `side`, for those that are not near. The same
/// at every level.
template <class T>
void near_bins_on_host(HostLevel level, const NearBins& near, const T* pixels, int n,
                       std::int32_t* bins);

}  // namespace kastor::detail

#endif
