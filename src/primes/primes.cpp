// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/primes.hpp>
#include <string>
#include <vector>

#include "core/launch.hpp"
#include "primes/is_prime.hpp"

namespace kastor::detail {

// example-begin primes-functor
template <class Exec>
struct TestCandidate {
  PrimeFlags<Exec> flags;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    flags(n) = is_prime(static_cast<std::uint32_t>(n)) ? 1 : 0;
  }
};
// example-end primes-functor

}  // namespace kastor::detail

namespace kastor {

// example-begin primes-launch
template <class Exec>
void mark_primes(const Exec& space, const PrimeFlags<Exec>& flags) {
  const auto candidates = static_cast<std::int64_t>(flags.extent(0));
  KASTOR_EXPECTS("kastor::mark_primes", candidates <= most_primes_upto + 1,
                 "there are " + std::to_string(candidates) + " flags; expected at most " +
                     std::to_string(most_primes_upto + 1));
  core::for_each("kastor::primes::test_candidates", space, candidates,
                 detail::TestCandidate<Exec>{flags});
}
// example-end primes-launch

// example-begin primes-host
template <class Exec>
std::vector<std::int64_t> primes_up_to(const Exec& space, std::int64_t upto) {
  KASTOR_EXPECTS(
      "kastor::primes_up_to", upto >= 0 && upto <= most_primes_upto,
      "the end is " + std::to_string(upto) + "; expected 0 to " + std::to_string(most_primes_upto));
  const Kokkos::Profiling::ScopedRegion region("kastor::primes");
  const PrimeFlags<Exec> flags(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::primes::flags"),
      static_cast<std::size_t>(upto) + 1);
  mark_primes(space, flags);
  std::vector<std::uint8_t> on_host(flags.extent(0));
  Kokkos::deep_copy(
      space,
      Kokkos::View<std::uint8_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          on_host.data(), on_host.size()),
      flags);
  space.fence("kastor::primes::flags_are_on_the_host");

  std::vector<std::int64_t> primes;
  for (std::size_t n = 0; n < on_host.size(); ++n) {
    if (on_host[n] != 0) primes.push_back(static_cast<std::int64_t>(n));
  }
  return primes;
}
// example-end primes-host

}  // namespace kastor

// example-begin primes-instantiation
#define KASTOR_INSTANTIATE(EXEC)                                                         \
  template void kastor::mark_primes<EXEC>(const EXEC&, const kastor::PrimeFlags<EXEC>&); \
  template std::vector<std::int64_t> kastor::primes_up_to<EXEC>(const EXEC&, std::int64_t);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
// example-end primes-instantiation
