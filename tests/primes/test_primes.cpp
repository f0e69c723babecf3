// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/primes.hpp>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "primes/is_prime.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;

// example-begin primes-reference
/// The sieve of Eratosthenes: every composite is a multiple of something smaller.
std::vector<std::uint8_t> sieve(std::int64_t upto) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(upto) + 1, 1);
  for (std::size_t n = 0; n < flags.size(); ++n) {
    if (n < 2) flags[n] = 0;
    if (flags[n] == 0) continue;
    for (std::size_t multiple = 2 * n; multiple < flags.size(); multiple += n) flags[multiple] = 0;
  }
  return flags;
}

std::vector<std::int64_t> primes_naive(std::int64_t upto) {
  const auto flags = sieve(upto);
  std::vector<std::int64_t> primes;
  for (std::int64_t n = 0; n <= upto; ++n) {
    if (flags[static_cast<std::size_t>(n)] != 0) primes.push_back(n);
  }
  return primes;
}

template <class Exec>
class Primes : public ::testing::Test {};
TYPED_TEST_SUITE(Primes, ts::Execs, ts::CaseName);

TYPED_TEST(Primes, MatchTheSieve) {
  for (const std::int64_t upto : {0, 1, 2, 3, 4, 5, 24, 25, 26, 63, 64, 65, 9999, 10000}) {
    EXPECT_EQ(kastor::primes_up_to(TypeParam{}, upto), primes_naive(upto)) << upto;
  }
}
// example-end primes-reference

TYPED_TEST(Primes, AreAsManyAsIsKnown) {
  EXPECT_EQ(kastor::primes_up_to(TypeParam{}, 10'000).size(), 1229U);
  EXPECT_EQ(kastor::primes_up_to(TypeParam{}, 1'000'000).size(), 78498U);
}

TYPED_TEST(Primes, FillEveryFlag) {
  using Exec = TypeParam;
  const Exec space;
  for (const std::int64_t count : {0, 1, 2, 3, 1000}) {
    const kastor::PrimeFlags<Exec> flags("test::flags", static_cast<std::size_t>(count));
    Kokkos::deep_copy(flags, std::uint8_t{77});
    kastor::mark_primes(space, flags);
    space.fence("test::primes");
    auto want = sieve(1000);
    want.resize(static_cast<std::size_t>(count));
    EXPECT_EQ(ts::to_host_list(flags, count), want) << count;
  }
}

TYPED_TEST(Primes, ThrowOutsideOfTheRange) {
  ts::expect_error([] { (void)kastor::primes_up_to(TypeParam{}, -1); },
                   {"kastor::primes_up_to", "-1", "100000000"});
  ts::expect_error([] { (void)kastor::primes_up_to(TypeParam{}, kastor::most_primes_upto + 1); },
                   {"kastor::primes_up_to", "100000001"});
}

/// On the CPU alone: a search up to there takes a minute.
TEST(IsPrime, HoldsForTheLargestCandidates) {
  for (const std::uint32_t prime : {99999989U, 99999971U, 4294967291U}) {
    EXPECT_TRUE(kastor::detail::is_prime(prime)) << prime;
  }
  // The last two: squares of primes, where one divisor too few shows.
  for (const std::uint32_t composite :
       {99999999U, 100000000U, 4294967295U, 99460729U, 4293001441U}) {
    EXPECT_FALSE(kastor::detail::is_prime(composite)) << composite;
  }
}

}  // namespace
