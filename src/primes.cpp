// SPDX-License-Identifier: Apache-2.0
// example-begin primes-instantiation
#include <kastor/detail/instantiations.hpp>
#include <kastor/detail/primes_impl.hpp>

#define KASTOR_INSTANTIATE(EXEC)                                                         \
  template void kastor::mark_primes<EXEC>(const EXEC&, const kastor::PrimeFlags<EXEC>&); \
  template std::vector<std::int64_t> kastor::primes_up_to<EXEC>(const EXEC&, std::int64_t);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
// example-end primes-instantiation
