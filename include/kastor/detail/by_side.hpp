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

/// A thread's place among those of one side.
struct HalfCrew {
  int place, places;
  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return place; }
  [[nodiscard]] KOKKOS_FUNCTION int size() const { return places; }
};

/// Work space of a crew of up to 512 threads.
struct BySideSpace {
  static constexpr int most_words = 5;
  static constexpr int most_threads = 512;
  static constexpr int parts = 16;
  std::uint64_t word[most_words][most_threads / 2];
  std::uint64_t part[2 * most_words][parts];
};

/// Calls `find(side, half, words)`, which fills the words; `all[side]` are then the same for
/// everyone. 0 has to be the neutral word.
template <int K, class Op, class Find>
KOKKOS_FUNCTION void by_side(const Alone& crew, BySideSpace&, std::uint64_t (&all)[2][K], const Op&,
                             const Find& find) {
  find(0, crew, all[0]);
  find(1, crew, all[1]);
}

/// All must call it; nobody may use the space for anything else meanwhile.
template <int K, class Member, class Op, class Find>
KOKKOS_FUNCTION void by_side(const TeamCrew<Member>& crew, BySideSpace& space,
                             std::uint64_t (&all)[2][K], const Op& op, const Find& find) {
  static_assert(K <= BySideSpace::most_words);
  constexpr int parts = BySideSpace::parts;
  const int half = crew.size() / 2;
  const int rank = crew.rank();
  std::uint64_t mine[K];
  find(rank & 1, HalfCrew{rank >> 1, half}, mine);
  // The upper half of the threads hand over to the lower half.
  if (rank >= half) {
    KASTOR_UNROLL
    for (int k = 0; k < K; ++k) space.word[k][rank - half] = mine[k];
  }
  crew.barrier();
  if (rank < half) {
    KASTOR_UNROLL
    for (int k = 0; k < K; ++k) space.word[k][rank] = op(mine[k], space.word[k][rank]);
  }
  crew.barrier();
  for (int i = rank; i < 2 * K * parts; i += crew.size()) {
    const int column = i / parts;
    const int side = column & 1;
    std::uint64_t sum = 0;
    KASTOR_UNROLL_BY_4
    for (int t = 2 * (i % parts) + side; t < half; t += 2 * parts)
      sum = op(sum, space.word[column >> 1][t]);
    space.part[column][i % parts] = sum;
  }
  crew.barrier();
  if (rank < 2 * K) {
    std::uint64_t sum = 0;
    KASTOR_UNROLL
    for (int p = 0; p < parts; ++p) sum = op(sum, space.part[rank][p]);
    space.word[0][rank] = sum;
  }
  crew.barrier();
  KASTOR_UNROLL
  for (int k = 0; k < K; ++k) {
    all[0][k] = space.word[0][2 * k];
    all[1][k] = space.word[0][2 * k + 1];
  }
  crew.barrier();
}

}  // namespace kastor::detail

#endif
