// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_DIVISOR_HPP
#define KASTOR_DETAIL_DIVISOR_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::detail {

/// Divides by an integer 0 < n < 2^50, rounded as IEEE 754 says. A device finds 1 / n once, while
/// it waits for the sums that are to be divided: two quotients then take the time of one.
///
/// Why the product is right after one correction (Markstein 1990): q = x * (1 / n) is off by less
/// than two units in its last place u, so that x - n q is a multiple of u below 2 n u and the fma
/// finds it exactly. What the second fma rounds is then off x / n by less than 2^-52 u. But x / n
/// itself is no closer than u / 4n to the middle of two doubles, for it is not one.
class Divisor {
 public:
  KOKKOS_FUNCTION explicit Divisor(std::int64_t n) : m_n(static_cast<double>(n)) {
    KOKKOS_IF_ON_DEVICE((m_reciprocal = 1.0 / m_n;))
  }
  /// Of somebody who knows 1 / n.
  KOKKOS_FUNCTION Divisor(std::int64_t n, double reciprocal)
      : m_n(static_cast<double>(n)), m_reciprocal(reciprocal) {}
  /// x / n, but that -0 may become 0. \param x 0, or of a size from 2^-900 to 2^1000, or no number.
  [[nodiscard]] KOKKOS_FUNCTION double quotient(double x) const {
    double q = 0;
    KOKKOS_IF_ON_DEVICE((q = corrected(x);))
    KOKKOS_IF_ON_HOST((q = x / m_n;))
    return q;
  }
  /// What a device does, for whoever wants to see that it is the same.
  [[nodiscard]] KOKKOS_FUNCTION static double by_reciprocal(double x, std::int64_t n) {
    return Divisor(n, 1.0 / static_cast<double>(n)).corrected(x);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double corrected(double x) const {
    const double q = x * m_reciprocal;
    const double better = Kokkos::fma(Kokkos::fma(-m_n, q, x), m_reciprocal, q);
    // Infinities stay. Asked of the bits of x, it is known before the quotient is.
    constexpr std::uint64_t infinity = std::uint64_t{0x7ff} << 52;
    return (Kokkos::bit_cast<std::uint64_t>(x) & infinity) != infinity ? better : q;
  }

  double m_n;
  double m_reciprocal = 0;
};

}  // namespace kastor::detail

#endif
