// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BY_SIDE_HPP
#define KASTOR_DETAIL_BY_SIDE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Joins what the threads of a crew found about two sides of something, half of the crew looking at
/// each: words of 64 bits whose order does not matter. Kokkos' own team reduction of such structs
/// takes several times as long.
namespace kastor::detail {

struct AddWords {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};
struct LargerWord {
  KOKKOS_FUNCTION std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return a > b ? a : b;
  }
};

/// Work space of a team, which has to be of so many threads.
struct BySideSpace {
  static constexpr int threads = 256;
  static constexpr int most_words = 5;
  static constexpr int parts = 16;
  static_assert(2 * most_words * parts <= threads);
  std::uint64_t word[most_words][threads];
  std::uint64_t part[2 * most_words][parts + 1];  ///< one more, so that columns lie in other banks
  std::uint64_t all[2 * most_words];
};

/// One of two values. An array that a device indexes lies in its memory, not in registers.
template <class V>
[[nodiscard]] KOKKOS_INLINE_FUNCTION V of_side(int side, const V (&both)[2]) {
  return side == 0 ? both[0] : both[1];
}

/// Calls `find(side, half, words)`, which fills the words; `all[side]` are then the same for
/// everyone. 0 has to be the neutral word. All must call it. Others may use the space after the
/// next barrier.
template <int K, class Member, class Op, class Find>
KOKKOS_FUNCTION void by_side(const TeamCrew<Member>& crew, BySideSpace& space,
                             std::uint64_t (&all)[2][K], const Op& op, const Find& find) {
  static_assert(K <= BySideSpace::most_words);
  constexpr int parts = BySideSpace::parts;
  constexpr int half = BySideSpace::threads / 2;
  const int rank = crew.rank();
  std::uint64_t mine[K];
  find(rank & 1, Squad{rank >> 1, half}, mine);
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) space.word[k][(rank & 1) * half + (rank >> 1)] = mine[k];
  crew.barrier();
  if (rank < 2 * K * parts) {
    const int column = rank / parts;
    const std::uint64_t* from = &space.word[column >> 1][(column & 1) * half + rank % parts];
    std::uint64_t sum = from[0];
    KASTOR_UNROLL
    for (int i = parts; i < half; i += parts) sum = op(sum, from[i]);
    space.part[column][rank % parts] = sum;
  }
  crew.barrier();
  if (rank < 2 * K) {
    std::uint64_t sum = space.part[rank][0];
    KASTOR_UNROLL
    for (int i = 1; i < parts; ++i) sum = op(sum, space.part[rank][i]);
    space.all[rank] = sum;
  }
  crew.barrier();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) {
    all[0][k] = space.all[2 * k];
    all[1][k] = space.all[2 * k + 1];
  }
}

}  // namespace kastor::detail

#endif
