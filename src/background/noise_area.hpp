// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_NOISE_AREA_HPP
#define KASTOR_BACKGROUND_NOISE_AREA_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

/// The area of an autocorrelation from its values at some lags. On the host.
namespace kastor::detail {

/// From a sampled pixel to its partner [pixel].
struct NoiseLag {
  std::int32_t dy = 0, dx = 0;
};

/// Sums over pairs of deviations: a of the sampled pixel, b of its partner.
struct PairSums {
  std::int64_t n = 0, a = 0, b = 0, aa = 0, ab = 0;
  KOKKOS_FUNCTION PairSums& operator+=(const PairSums& other) {
    n += other.n;
    a += other.a;
    b += other.b;
    aa += other.aa;
    ab += other.ab;
    return *this;
  }
};

/// The correlation at one lag.
struct LagCorrelation {
  NoiseLag lag;
  std::int64_t pairs = 0;
  double rho = 0;    ///< slope of b over a; NaN without pairs
  double error = 0;  ///< its standard error if it is 0 and the pairs are independent
};

[[nodiscard]] LagCorrelation correlation_of(const NoiseLag& lag, const PairSums& sums);

/// The half of all lags up to 2 pixels along x and y; the other half mirrors it.
[[nodiscard]] std::vector<NoiseLag> short_lags();
/// `near` and `far` [pixel] along x, y and the diagonals.
[[nodiscard]] std::vector<NoiseLag> long_lags(std::int32_t near, std::int32_t far);

/// Whether the mean correlation at `distance` along x and y is above `noise_core`.
[[nodiscard]] bool reaches(const std::vector<LagCorrelation>& found, std::int32_t distance);

/// Correlations above are the core, to which a Gaussian is fitted.
inline constexpr double noise_core = 0.2;

/// The sum over lag 0 and the short lags whose correlation differs from 0, by three standard
/// errors; at least 1.
[[nodiscard]] double area_by_sum(const std::vector<LagCorrelation>& found);
/// Of a Gaussian and a white part, fitted to the core; NaN if that does not define one.
[[nodiscard]] double area_by_fit(const std::vector<LagCorrelation>& found);

}  // namespace kastor::detail

#endif
