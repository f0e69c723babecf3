// SPDX-License-Identifier: Apache-2.0
#include <kastor/primes.hpp>

#include "bench/steps.hpp"
#include "bench/stopwatch.hpp"

namespace kastor::bench {
namespace {

constexpr std::int64_t candidates = 10'001;  // 0 to 10000

template <class Exec>
Measured time_primes(const Exec& space, const TimingRules& rules) {
  const PrimeFlags<Exec> flags("kastor::app::flags", candidates);
  const auto host = host_twin(flags);
  const auto job = [&] { mark_primes(space, flags); };
  const Stopwatch<Exec> watch(space, rules);
  Measured measured;
  measured.timing = watch.time(job);
  measured.with_transfers =
      watch.time_with_transfers(no_transfer, job, [&] { Kokkos::deep_copy(space, host, flags); });
  auto numbers = numbers_of(space, flags);
  std::int64_t count = 0;
  for (const std::uint8_t flag : numbers) count += flag;
  measured.answer = {std::move(numbers), {{"primes", count}}};
  measured.items = candidates;
  measured.bytes = static_cast<double>(candidates);
  return measured;
}

Measured run_primes(const std::string& backend, const Images&, const TimingRules& rules) {
  return on_backend<Measured>(backend,
                              [&](const auto& space) { return time_primes(space, rules); });
}

}  // namespace

std::vector<Step> prime_steps() {
  return {{"primes", "primes up to 10000, one candidate a thread", run_primes}};
}

}  // namespace kastor::bench
