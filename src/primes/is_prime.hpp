// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PRIMES_IS_PRIME_HPP
#define KASTOR_PRIMES_IS_PRIME_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::detail {

// example-begin primes-arithmetic
/// Trial division: by 2, then by the odd numbers up to the square root.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool is_prime(std::uint32_t n) {
  if (n < 4) return n > 1;
  if (n % 2 == 0) return false;
  for (std::uint32_t divisor = 3; divisor <= n / divisor; divisor += 2) {
    if (n % divisor == 0) return false;
  }
  return true;
}
// example-end primes-arithmetic

}  // namespace kastor::detail

#endif
