// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REFINE_TAIL_BIN_HPP
#define KASTOR_DETAIL_REFINE_TAIL_BIN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/joined_tails.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>

namespace kastor::detail {

/// Work space shared by the crew.
struct RefineSpace {
  static constexpr int threads = 256;
  static constexpr int parts = GatheredBins<float>::parts_of_bin;
  std::uint32_t begin[parts];
  std::uint32_t next[parts];  ///< place
  SumsBeforeSpace<std::uint32_t, 1, threads> places;
  SumsBeforeSpace<std::uint64_t, WideTailSums::words, threads> sums;
};

/// Fills one of a tail's bin's slots, of a fine octave. All of the crew must call it.
template <class T, class Crew, class Tails>
KOKKOS_FUNCTION void refine_tail_bin(const Crew& crew, const GatheredBins<T>& bins,
                                     const Tails& joined, const T* tails, int side, int bin,
                                     int share, T* slot, RefineSpace& space) {
  using Refined = RefinedTailBin<T>;
  constexpr int shares = RefinedBins<T>::tail_slots;
  constexpr int of_part = RefineSpace::threads / Refined::parts;
  static_assert(of_part * Refined::parts == RefineSpace::threads);
  constexpr int batch = 16;  // pixels of a thread under way at once
  const BinSummary<T>& all = joined.summary(side, bin);
  const std::int64_t begin_of_share = all.pixels() * share / shares;
  const std::int64_t n = all.pixels() * (share + 1) / shares - begin_of_share;
  const T* const from = tails + all.begin + begin_of_share;
  T* const to = Refined::pixels_at(slot);
  const int rank = crew.rank();
  if (rank < Refined::parts) space.next[rank] = 0;
  crew.barrier();
  for_my_places<batch>(crew, from, n, [&](std::int64_t, T x) {
    (void)scratch_fetch_add(&space.next[bins.part_of_bin(x)], 1U);
  });
  crew.barrier();
  const std::uint32_t in_part = space.next[rank / of_part];
  std::uint32_t begin[1] = {rank % of_part == 0 ? in_part : 0};
  sums_before(crew, space.places, begin);
  // The first thread of a part knows where it begins.
  if (rank % of_part == 0) space.begin[rank / of_part] = space.next[rank / of_part] = begin[0];
  crew.barrier();
  for_my_share(crew, from, n,
               [&](T x) { to[scratch_fetch_add(&space.next[bins.part_of_bin(x)], 1U)] = x; });
  crew.barrier();
  const TailTerm<T> term(bins.centre, bins.exponent_of(TailOctaves::octave_of(bin)));
  const std::uint32_t first = space.begin[rank / of_part];
  TailSums sums;
  add_tail(Squad{rank % of_part, of_part}, to + first, in_part, term, sums, [](T) { return true; });
  WideTailSums of_bins = share == 0 ? joined.share_before(rank, side, bin) : WideTailSums{};
  std::uint64_t before_bin[WideTailSums::words];
  sums_before(crew, space.sums, of_bins.word, before_bin);
  crew.barrier();
  WideTailSums before = WideTailSums::of(sums);
  sums_before(crew, space.sums, before.word);
  if (rank % of_part != 0) return;
  KASTOR_UNROLL
  for (int k = 0; k < WideTailSums::words; ++k) before.word[k] += before_bin[k];
  Refined::at(slot).part[rank / of_part] = {before, first, first + in_part};
}

}  // namespace kastor::detail

#endif
