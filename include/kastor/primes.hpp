// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PRIMES_HPP
#define KASTOR_PRIMES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/error.hpp>
#include <vector>

namespace kastor {

/// Upper limit of a search for primes. Candidates are 32-bit integers on the device.
inline constexpr std::int64_t most_primes_upto = 100'000'000;

// example-begin primes-declarations
/// One entry a candidate, 0, 1, 2, ...: 1 if it is prime, else 0.
template <class Exec>
using PrimeFlags = Kokkos::View<std::uint8_t*, typename Exec::memory_space>;

/// Fills `flags` by trial division, one candidate a thread. Enqueues only, allocates nothing.
/// \throws Error if there are more flags than numbers up to `most_primes_upto`.
template <class Exec>
void mark_primes(const Exec& space, const PrimeFlags<Exec>& flags);

/// All primes up to and including `upto`, ascending. Fences `space`.
/// \throws Error unless `upto` is from 0 to `most_primes_upto`.
template <class Exec>
[[nodiscard]] std::vector<std::int64_t> primes_up_to(const Exec& space, std::int64_t upto);
// example-end primes-declarations

}  // namespace kastor

#endif
