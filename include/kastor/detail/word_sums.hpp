// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WORD_SUMS_HPP
#define KASTOR_DETAIL_WORD_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Adds up a few words of 64 bits of all threads of a team through its scratch memory: one after
/// the other by Kokkos' team reduction they take several times as long.
namespace kastor::detail {

template <int K, int Threads>
struct WordSumSpace {
  static constexpr int parts = 16;
  static_assert(Threads % parts == 0 && Threads >= K * parts);
  std::uint64_t word[K][Threads];
  std::uint64_t part[K][parts];
};

/// Calls `take(k, sum)` for every word, each by some thread. All must call it; nobody may use the
/// space for anything else meanwhile.
template <int K, int Threads, class Crew, class Take>
KOKKOS_FUNCTION void add_up_words(const Crew& crew, WordSumSpace<K, Threads>& space,
                                  const std::uint64_t (&mine)[K], const Take& take) {
  constexpr int parts = WordSumSpace<K, Threads>::parts;
  const int rank = crew.rank();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) space.word[k][rank] = mine[k];
  crew.barrier();
  if (rank < K * parts) {
    std::uint64_t sum = 0;
    KASTOR_UNROLL_BY_4
    for (int t = rank % parts; t < Threads; t += parts) sum += space.word[rank / parts][t];
    space.part[rank / parts][rank % parts] = sum;
  }
  crew.barrier();
  if (rank < K) {
    std::uint64_t sum = 0;
    KASTOR_UNROLL
    for (int p = 0; p < parts; ++p) sum += space.part[rank][p];
    take(rank, sum);
  }
}

}  // namespace kastor::detail

#endif
