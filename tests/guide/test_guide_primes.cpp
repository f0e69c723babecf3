// SPDX-License-Identifier: Apache-2.0

// The examples of docs/guide.md, "A kernel in five minutes", that are not Kastor's own files.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/primes.hpp>
#include <vector>

namespace {

using Exec = Kokkos::DefaultExecutionSpace;

// example-begin twins
/// Counts the primes p for which p + 2 is prime too.
struct CountTwins {
  kastor::PrimeFlags<Exec> flags;

  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& count) const {
    if (flags(n) == 1 && flags(n + 2) == 1) ++count;
  }
};

std::int64_t twin_primes_below(const Exec& space, std::int64_t end) {
  const kastor::PrimeFlags<Exec> flags("flags", static_cast<std::size_t>(end) + 2);
  kastor::mark_primes(space, flags);  // enqueued: the next kernel of the instance comes after it
  std::int64_t count = 0;
  Kokkos::parallel_reduce("twins",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, end),
                          CountTwins{flags}, count);
  return count;
}
// example-end twins

TEST(GuidePrimes, TwinPrimes) {
  EXPECT_EQ(twin_primes_below(Exec{}, 3), 0);
  EXPECT_EQ(twin_primes_below(Exec{}, 4), 1);
  EXPECT_EQ(twin_primes_below(Exec{}, 100), 8);
  EXPECT_EQ(twin_primes_below(Exec{}, 10000), 205);
}

TEST(GuidePrimes, TheOneShotForm) {
  const Exec space;
  // example-begin use-primes
  const std::vector<std::int64_t> primes = kastor::primes_up_to(space, 20);
  // example-end use-primes
  EXPECT_EQ(primes, (std::vector<std::int64_t>{2, 3, 5, 7, 11, 13, 17, 19}));
}

}  // namespace
