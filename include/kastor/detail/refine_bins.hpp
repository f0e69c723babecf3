// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REFINE_BINS_HPP
#define KASTOR_DETAIL_REFINE_BINS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bin_rehearsal.hpp>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/clip_outline.hpp>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/joined_tails.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/refine_tail_bin.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/rough_clip.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/window_pixels.hpp>

namespace kastor::detail {

/// Where nothing can be expected of a clip, since its bins have very many pixels: every team finds
/// out which bins the passes will look in, and refines one of them, or a share of it, so that they
/// need not look at all of its pixels.
template <class T, class Exec>
struct RefineBins {
  using Member = TeamMember<Exec>;
  using Crew = TeamCrew<Member>;
  using Tails = JoinedTails<T, Crew>;
  using Refined = RefinedBins<T>;
  static constexpr int threads = ClipOutline::threads;
  static constexpr int teams_at_once = 1;
  static_assert(threads == BySideSpace::threads && threads == RefineSpace::threads);
  static constexpr int tail_teams = Refined::most * Refined::tail_slots;
  static constexpr int teams = tail_teams + Refined::most;
  /// A team would take longer with more pixels of a bin than it spares the passes.
  static constexpr std::int64_t most_pixels = std::int64_t{1} << 17;

  struct Space {
    JoinedTailsSpace<T> tails;
    BySideSpace by_side;
    union {  // one at a time
      ClipOutline outline;
      RefineSpace refine;
      int listed;  ///< pixels
    };
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  ClipRequest request;
  const Brackets<T>* brackets;
  const GatherResult* read;
  std::int64_t capacity;
  T* tails;
  std::int64_t tails_capacity;  ///< of the memory at whose begin and end pixels are joined
  TailSummaries<T> summaries;
  PageCounts counts;
  PagedWindow<T> window;
  const ExpectedClip<T>* expected;
  Refined *of_tails, *of_window;
  std::int64_t least_pixels;  ///< of the bins that have most, to begin with; then of a bin of the
                              ///< tails a quarter, of the window an eighth

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Crew crew(team);
    const int task = team.league_rank();
    const bool is_for_tails = task < tail_teams;
    Refined& refined = is_for_tails ? *of_tails : *of_window;
    const int slot = is_for_tails ? task : task - tail_teams;
    const int slots_of_bin = is_for_tails ? Refined::tail_slots : 1;
    const int mine = slot / slots_of_bin;
    const int share = slot % slots_of_bin;
    if (crew.rank() == 0 && share == 0) refined.bin[mine] = Refined::none;
    if (expected->usable != 0) return;  // nearly always
    if (brackets->usable == 0 || brackets->spikes > 0 || read->longest_list > capacity ||
        !may_help())
      return;
    Space& space = *scratch_of<Space>(team);
    const Gathered<T> gathered{*brackets, read->totals.sums()};
    const OutlineShare<T> outline(crew.rank(), summaries, counts, window.begin);
    const GatheredBins<T> bins(gathered.brackets);
    const Tails joined(crew, bins, tails, summaries, nullptr, space.tails, space.by_side);
    if (!joined.hold_all()) return;
    outline.put_into(crew, space.outline);
    BinRehearsal<T, Crew> rehearsal(RoughClip<T, Crew>(gathered, joined, space.outline),
                                    is_for_tails ? mine : -1, is_for_tails ? -1 : mine);
    const int bin = rehearsal(request.kappa, request.max_passes);
    const Slots slots(*this, joined);
    T* const first_slot = slots.begin + (is_for_tails ? 0 : tail_teams) * slots.size;
    if (slot == 0 && crew.rank() == 0) {
      refined.slots = first_slot;
      refined.slot_size = slots.size;
    }
    if (bin < 0) return;
    T* const to = first_slot + slot * slots.size;
    crew.barrier();  // the outline has been read
    const bool is_refined = is_for_tails
                                ? refine_tail(crew, bins, joined, bin, share, to, slots.size, space)
                                : list_window(crew, bin, to, slots.size, space);
    if (is_refined && share == 0 && crew.rank() == 0) refined.bin[mine] = bin;
  }

 private:
  /// Bins have most pixels behind the edges. Whether all of the first eight on one side have many;
  /// of few different values, most bins have none.
  [[nodiscard]] KOKKOS_FUNCTION bool may_help() const {
    constexpr int some = TailOctaves::in_group;
    const GatheredBins<T> bins(*brackets);
    bool helps = false;
    for (int side = 0; side < Tails::sides; ++side) {
      const int edge = bins.in_tail(side == 0 ? brackets->low_edge : brackets->high_edge);
      if (edge + some >= TailOctaves::bins_in_fine) continue;
      const std::uint32_t* const count = counts.of_tail + side * TailOctaves::bins + edge + 1;
      bool all = true;
      KASTOR_UNROLL
      for (int b = 0; b < some; ++b) all &= count[b] >= least_pixels;
      helps |= all;
    }
    return helps;
  }
  /// Slots lie where no pixels are joined: all that were gathered would have room there, and those
  /// of the window lie elsewhere.
  struct Slots {
    T* begin;
    std::int64_t size;

    KOKKOS_FUNCTION Slots(const RefineBins& kernel, const Tails& joined) {
      constexpr std::int64_t aligned = 16;  // pixels
      const std::int64_t at_begin = *kernel.counts.joined;
      const std::int64_t at_end = joined.all(0).count + joined.all(1).count - at_begin;
      const std::int64_t first = (at_begin + aligned - 1) / aligned * aligned;
      const std::int64_t free = kernel.tails_capacity - at_end - first;
      begin = kernel.tails + first;
      size = free > 0 ? free / (teams * aligned) * aligned : 0;
    }
  };

  [[nodiscard]] KOKKOS_FUNCTION bool refine_tail(const Crew& crew, const GatheredBins<T>& bins,
                                                 const Tails& joined, int bin, int share, T* slot,
                                                 std::int64_t slot_size, Space& space) const {
    const int side = bin / TailOctaves::bins;
    const int in_tail = bin % TailOctaves::bins;
    const BinSummary<T>& summary = joined.summary(side, in_tail);
    const std::int64_t n = summary.pixels();
    if (in_tail >= TailOctaves::bins_in_fine || n < least_pixels / 4 || n > most_pixels ||
        n / Refined::tail_slots + 1 + RefinedTailBin<T>::pixels > slot_size)
      return false;
    refine_tail_bin(crew, bins, joined, tails, side, in_tail, share, slot, space.refine);
    return true;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool list_window(const Crew& crew, int bin, T* slot,
                                                 std::int64_t slot_size, Space& space) const {
    if (bin >= GatheredBins<T>::window || window.fill_pages(bin, bin)) return false;
    const auto n = static_cast<std::int64_t>(window.begin[bin + 1] - window.begin[bin]);
    if (n < least_pixels / 8 || n > most_pixels || n > slot_size) return false;
    if (crew.rank() == 0) space.listed = 0;
    crew.barrier();
    window.copy(crew, bin, slot, &space.listed);
    return true;
  }
};

}  // namespace kastor::detail

#endif
