// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REFINE_BINS_HPP
#define KASTOR_DETAIL_REFINE_BINS_HPP

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
  std::uint32_t next[threads];  ///< place of each part
  SumsBeforeSpace<std::uint32_t, 1, threads> places;
  SumsBeforeSpace<std::uint64_t, WideTailSums::words, threads> sums;
};

/// Fills a slot with a tail's bin, of a fine octave. All of the crew must call it.
template <class T, class Crew, class Tails>
KOKKOS_FUNCTION void refine_tail_bin(const Crew& crew, const GatheredBins<T>& bins,
                                     const Tails& joined, const T* tails, int side, int bin,
                                     T* slot, RefineSpace& space) {
  static_assert(RefinedTailBin<T>::parts == RefineSpace::threads);
  const BinSummary<T>& all = joined.summary(side, bin);
  const T* const from = tails + all.begin;
  const std::int64_t n = all.pixels();
  T* const to = RefinedTailBin<T>::pixels_at(slot);
  const int rank = crew.rank();
  space.next[rank] = 0;
  crew.barrier();
  for_my_share(crew, from, n,
               [&](T x) { (void)scratch_fetch_add(&space.next[bins.part_of_bin(x)], 1U); });
  crew.barrier();
  const std::uint32_t mine = space.next[rank];
  std::uint32_t begin[1] = {mine};
  sums_before(crew, space.places, begin);
  space.next[rank] = begin[0];
  crew.barrier();
  for_my_share(crew, from, n,
               [&](T x) { to[scratch_fetch_add(&space.next[bins.part_of_bin(x)], 1U)] = x; });
  crew.barrier();
  // A thread has a part.
  const TailTerm<T> term(bins.centre, bins.exponent_of(TailOctaves::octave_of(bin)));
  TailSums of_part;
  add_tail(Squad{0, 1}, to + begin[0], mine, term, of_part, [](T) { return true; });
  WideTailSums before = WideTailSums::of(of_part);
  WideTailSums share = joined.share_before(rank, side, bin);
  std::uint64_t before_bin[WideTailSums::words];
  sums_before(crew, space.sums, share.word, before_bin);
  crew.barrier();
  sums_before(crew, space.sums, before.word);
  KASTOR_UNROLL
  for (int k = 0; k < WideTailSums::words; ++k) before.word[k] += before_bin[k];
  RefinedTailBin<T>::at(slot).part[rank] = {before, begin[0], begin[0] + mine};
}

}  // namespace kastor::detail

#endif
