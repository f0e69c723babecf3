// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_JOINED_TAILS_HPP
#define KASTOR_DETAIL_JOINED_TAILS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/ordered_key.hpp>
#include <kastor/detail/refined_bins.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The tails as a device keeps them: their bins are joined and added up.
namespace kastor::detail {

/// Work space shared by the crew.
template <class T>
struct JoinedTailsSpace {
  TailPart before_octave[2][TailOctaves::count + 1];
  RefinedBins<T> refined;
};

template <class T, class Crew>
class JoinedTails {
 public:
  using Bins = GatheredBins<T>;
  using Space = JoinedTailsSpace<T>;
  static constexpr int sides = 2;  ///< the lower and the upper tail

  /// `tails`: the pixels of a bin lie at its begin. `refined`: null, or which of the bins of both
  /// tails are. All must call it.
  KOKKOS_FUNCTION JoinedTails(const Crew& crew, const Bins& bins, const T* tails,
                              const TailSummaries<T>& summaries, const RefinedBins<T>* refined,
                              Space& space, BySideSpace& by_side)
      : m_crew(crew),
        m_bins(bins),
        m_tails(tails),
        m_summaries(summaries),
        m_space(space),
        m_by_side(by_side) {
    m_space->refined.bring(crew, refined);
    add_up_octaves();
  }

  /// Whether every pixel of the tails is in a bin.
  [[nodiscard]] KOKKOS_FUNCTION bool hold_all() const {
    for (int side = 0; side < sides; ++side) {
      if (summary(side, TailOctaves::bins - 1).pixels() != 0) return false;
    }
    return true;
  }

  /// What a tail has in all, and in the octaves before one.
  [[nodiscard]] KOKKOS_FUNCTION const TailPart& all(int side) const {
    return before(side, of_side(side, m_used));
  }
  [[nodiscard]] KOKKOS_FUNCTION const TailPart& before(int side, int octave) const {
    return m_space->before_octave[side][octave];
  }
  /// Octaves that hold pixels, or lie before one that does.
  [[nodiscard]] KOKKOS_FUNCTION int used(int side) const { return of_side(side, m_used); }
  [[nodiscard]] KOKKOS_FUNCTION const BinSummary<T>& summary(int side, int bin) const {
    return m_summaries.bins[side * TailOctaves::bins + bin];
  }
  /// Of what a bin's octave has in the bins before it: those in its group, one by one, and the
  /// groups before that.
  [[nodiscard]] KOKKOS_FUNCTION WideTailSums share_before(int rank, int side, int bin) const {
    const int bins = bin % TailOctaves::in_group;
    if (rank >= shares_before(bin)) return {};
    if (rank < bins) return summary(side, bin - bins + rank).sums;
    const int octave = TailOctaves::octave_of(bin);
    const int first_group = TailOctaves::first_bin_of(octave) / TailOctaves::in_group;
    return m_summaries.groups[side * TailOctaves::groups + first_group + rank - bins];
  }
  [[nodiscard]] KOKKOS_FUNCTION static int shares_before(int bin) {
    const int octave = TailOctaves::octave_of(bin);
    if (octave >= TailOctaves::parted) return 0;
    const int first_group = TailOctaves::first_bin_of(octave) / TailOctaves::in_group;
    return bin % TailOctaves::in_group + bin / TailOctaves::in_group - first_group;
  }

  /// What each tail has within an interval: true, it is always known. All must call it.
  KOKKOS_FUNCTION bool within(const Interval<T>& interval, TailPart (&parts)[sides]) const {
    const T limits[sides] = {interval.low, interval.high};
    Cut cuts[sides];
    cuts_at(limits, cuts);
    std::uint64_t words[2][WideTailSums::words] = {};
    if (cuts_pixels(0, cuts[0]) || cuts_pixels(1, cuts[1])) {
      const int places[sides] = {m_space->refined.place_of(cuts[0].bin),
                                 m_space->refined.place_of(TailOctaves::bins + cuts[1].bin)};
      by_side(m_crew, *m_by_side, words, AddWords{},
              [&](int side, const auto& half, std::uint64_t(&mine)[WideTailSums::words]) {
                KASTOR_UNROLL
                for (int k = 0; k < WideTailSums::words; ++k) mine[k] = 0;
                const Cut cut = of_side(side, cuts);
                if (cuts_pixels(side, cut))
                  add_within(half, side, of_side(side, limits), cut, of_side(side, places), mine);
              });
    }
    // Sums and squares of both sides: what the octaves before have, and the share of the last one.
    double sums[2 * sides];
    by_lanes(sums, [&](int i) {
      const bool upper = i % sides == 1;
      const bool squared = i / sides == 1;
      const int octave = upper ? cuts[1].octave : cuts[0].octave;
      const auto& before = m_space->before_octave[i % sides][octave];
      const auto word = [&](WideTailSums::Word of_sum, WideTailSums::Word of_squares) {
        return upper ? (squared ? words[1][of_squares] : words[1][of_sum])
                     : (squared ? words[0][of_squares] : words[0][of_sum]);
      };
      const Int128 within = joined(word(WideTailSums::sum_low, WideTailSums::squares_low),
                                   word(WideTailSums::sum_high, WideTailSums::squares_high));
      return (squared ? before.squares : before.sum) +
             m_bins.in_grid_units(within, octave, squared);
    });
    KASTOR_UNROLL
    for (int side = 0; side < sides; ++side)
      parts[side] = {m_space->before_octave[side][cuts[side].octave].count +
                         static_cast<std::int64_t>(words[side][WideTailSums::pixels]),
                     sums[side], sums[sides + side]};
    return true;
  }

  /// What one tail has within a limit. The whole crew looks at it, and all must call it.
  [[nodiscard]] KOKKOS_FUNCTION TailPart within(int side, T limit) const {
    const Cut cut = cut_at(side, limit);
    const TailPart& before = m_space->before_octave[side][cut.octave];
    if (!cuts_pixels(side, cut)) return before;
    const int place = m_space->refined.place_of(side * TailOctaves::bins + cut.bin);
    std::uint64_t words[2][WideTailSums::words];
    by_side(m_crew, *m_by_side, words, AddWords{},
            [&](int, const auto&, std::uint64_t(&mine)[WideTailSums::words]) {
              KASTOR_UNROLL
              for (int k = 0; k < WideTailSums::words; ++k) mine[k] = 0;
              add_within<true>(Squad{m_crew.rank(), m_crew.size()}, side, limit, cut, place, mine);
            });
    KASTOR_UNROLL
    for (int k = 0; k < WideTailSums::words; ++k) words[0][k] += words[1][k];
    const TailSums within = WideTailSums::joined_from(words[0]);
    return {before.count + within.count,
            before.sum + m_bins.in_grid_units(within.sum, cut.octave, false),
            before.squares + m_bins.in_grid_units(within.squares, cut.octave, true)};
  }

  /// The outermost pixels within an interval, of each tail that has any there: true, they
  /// are always known. All must call it.
  KOKKOS_FUNCTION bool find_outermost(const Interval<T>& interval, T (&extreme)[sides]) const {
    const T limits[sides] = {interval.low, interval.high};
    const auto outwards = [](int side, Key<T> key) {
      return side == 0 ? static_cast<Key<T>>(~key) : key;
    };
    Cut cuts[sides];
    cuts_at(limits, cuts);
    // Where the limit cuts a bin: of the outermost pixel in it that is within the limit, a key that
    // grows outwards; 0: there is none. Elsewhere: 1 + the last bin that is not empty.
    std::uint64_t found[sides][1];
    by_side(m_crew, *m_by_side, found, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
              mine[0] = 0;
              const Cut cut = of_side(side, cuts);
              if (cuts_pixels(side, cut)) {
                const BinSummary<T>& bin = summary(side, cut.bin);
                const T limit = of_side(side, limits);
                for_my_share(half, m_tails + bin.begin, bin.pixels(), [&](T x) {
                  const std::uint64_t key = outwards(side, key_of(x));
                  if (is_within(side, x, limit) && key > mine[0]) mine[0] = key;
                });
              } else if (cut.octave > 0) {
                mine[0] = last_used(half, side, TailOctaves::first_bin_of(cut.octave - 1), cut.bin);
              }
            });
    // Where that bin has none: 1 + the last bin before it that is not empty.
    const bool inside[sides] = {cuts_pixels(0, cuts[0]) && found[0][0] == 0,
                                cuts_pixels(1, cuts[1]) && found[1][0] == 0};
    std::uint64_t inner[sides][1] = {};
    if (inside[0] || inside[1]) {
      by_side(m_crew, *m_by_side, inner, LargerWord{},
              [&](int side, const auto& half, std::uint64_t(&mine)[1]) {
                mine[0] =
                    of_side(side, inside) ? last_used(half, side, 0, of_side(side, cuts).bin) : 0;
              });
    }
    for (int side = 0; side < sides; ++side) {
      if (cuts_pixels(side, cuts[side]) && !inside[side]) {
        extreme[side] = value_of<T>(outwards(side, static_cast<Key<T>>(found[side][0])));
        continue;
      }
      const std::uint64_t bin = inside[side] ? inner[side][0] : found[side][0];
      if (bin == 0) continue;
      const BinSummary<T>& last = summary(side, static_cast<int>(bin) - 1);
      extreme[side] = side == 0 ? last.min() : last.max();
    }
    return true;
  }

 private:
  KOKKOS_FUNCTION void add_up_octaves() {
    constexpr int half_of_crew = BySideSpace::threads / 2;
    constexpr int mine = (TailOctaves::count + half_of_crew - 1) / half_of_crew;
    std::uint64_t used[2][1];
    by_side(m_crew, *m_by_side, used, LargerWord{},
            [&](int side, const auto& half, std::uint64_t(&last)[1]) {
              last[0] = 0;
              WideTailSums sums[mine];  // all under way before the first is needed
              const auto octave_of = [&half](int k) { return half.rank() + k * half_of_crew; };
              const auto is_there = [&](int k) {
                return k + 1 < mine || octave_of(k) < TailOctaves::count;
              };
              KASTOR_UNROLL
              for (int k = 0; k < mine; ++k) {
                if (is_there(k))
                  sums[k] = m_summaries.octaves[side * TailOctaves::count + octave_of(k)];
              }
              KASTOR_UNROLL
              for (int k = 0; k < mine; ++k) {
                if (!is_there(k)) continue;
                auto& here = m_space->before_octave[side][octave_of(k)];
                here = {0, 0, 0};
                if (sums[k].word[WideTailSums::pixels] == 0) continue;
                last[0] = static_cast<std::uint64_t>(octave_of(k)) + 1;
                const TailSums whole = sums[k].sums();
                here = {whole.count, m_bins.in_grid_units(whole.sum, octave_of(k), false),
                        m_bins.in_grid_units(whole.squares, octave_of(k), true)};
              }
            });
    for (int side = 0; side < sides; ++side) m_used[side] = static_cast<int>(used[side][0]);
    for (int side = m_crew.rank(); side < 2; side += m_crew.size()) {
      TailPart before{0, 0, 0};
      for (int octave = 0; octave < of_side(side, m_used); ++octave) {
        auto& here = m_space->before_octave[side][octave];
        const auto more = here;
        here = before;
        before.count += more.count;
        before.sum += more.sum;
        before.squares += more.squares;
      }
      m_space->before_octave[side][of_side(side, m_used)] = before;
    }
    m_crew.barrier();
  }

  /// Where a tail's limit lies; if beyond all octaves that are used, after the last of them.
  struct Cut {
    int bin;
    int octave;  ///< those before are whole within the limit
  };
  [[nodiscard]] KOKKOS_FUNCTION Cut cut_at(int side, T limit) const {
    const int used = of_side(side, m_used);
    const Cut beyond_all{TailOctaves::first_bin_of(used), used};
    if (!Interval<T>{}.contains(limit)) return beyond_all;
    const int bin = m_bins.in_tail(limit);
    const int octave = TailOctaves::octave_of(bin);
    return octave < used ? Cut{bin, octave} : beyond_all;
  }
  /// Whether there may be pixels on both sides of the limit.
  [[nodiscard]] KOKKOS_FUNCTION bool cuts_pixels(int side, const Cut& cut) const {
    return cut.octave < of_side(side, m_used);
  }

  KOKKOS_FUNCTION void cuts_at(const T (&limits)[sides], Cut (&cuts)[sides]) const {
    by_lanes(cuts, [&](int side) { return cut_at(side, of_side(side, limits)); });
  }

  /// What the octave that a limit cuts has within it: the share of a thread of those who look.
  /// `refined`: the place of the bin among the refined ones.
  template <bool InPacks = false, class Some>
  KOKKOS_FUNCTION void add_within(const Some& some, int side, T limit, const Cut& cut, int refined,
                                  std::uint64_t (&words)[WideTailSums::words]) const {
    const Near near = near_limit(some, side, limit, cut, refined, words);
    const TailTerm<T> term(m_bins.centre, m_bins.exponent_of(cut.octave));
    TailSums sums;
    add_tail<InPacks>(near.squad, near.pixels, near.count, term, sums,
                      [&](T x) { return is_within(side, x, limit); });
    WideTailSums::of(sums).add_to(words);
  }

  /// Pixels on both sides of a limit, and the thread's place among those who look at them.
  struct Near {
    Squad squad;
    const T* pixels;
    std::int64_t count;
  };
  /// Those of the limit's octave that have to be looked at. Adds this thread's share of what is
  /// within the limit beside them. `refined`: the place of the bin among the refined ones.
  template <class Half>
  [[nodiscard]] KOKKOS_FUNCTION Near near_limit(const Half& half, int side, T limit, const Cut& cut,
                                                int refined,
                                                std::uint64_t (&words)[WideTailSums::words]) const {
    if (refined >= 0) {
      constexpr int slots = RefinedBins<T>::tail_slots;
      const int mine = half.rank() % slots;
      const Squad squad{half.rank() / slots, (half.size() - mine + slots - 1) / slots};
      T* const slot = m_space->refined.slot(refined * slots + mine);
      const auto part = RefinedTailBin<T>::at(slot).part[m_bins.part_of_bin(limit)];
      if (squad.rank() == 0) part.before.add_to(words);
      return {squad, RefinedTailBin<T>::pixels_at(slot) + part.begin, part.past - part.begin};
    }
    const Squad squad{half.rank(), half.size()};
    const BinSummary<T> all = summary(side, cut.bin);
    const std::int64_t n = all.pixels();
    const int shares = shares_before(cut.bin);
    KASTOR_KEEP_LOOP
    for (int i = half.rank(); i < shares; i += half.size())
      share_before(i, side, cut.bin).add_to(words);
    if (n == 0) return {squad, nullptr, 0};
    const bool all_within = is_within(side, side == 0 ? all.min() : all.max(), limit);
    if (all_within && half.rank() == 0) all.sums.add_to(words);
    const bool some_within = is_within(side, side == 0 ? all.max() : all.min(), limit);
    return {squad, m_tails + all.begin, all_within || !some_within ? 0 : n};
  }

  /// 1 + the last bin of some that is not empty, among this thread's; 0: there is none.
  template <class Half>
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t last_used(const Half& half, int side, int begin,
                                                        int past) const {
    std::uint64_t found = 0;
    KASTOR_UNROLL_BY_4
    for (int bin = begin + half.rank(); bin < past; bin += half.size()) {
      if (summary(side, bin).pixels() != 0) found = static_cast<std::uint64_t>(bin) + 1;
    }
    return found;
  }

  Crew m_crew;
  Bins m_bins;
  const T* m_tails;
  TailSummaries<T> m_summaries;
  InScratch<Space> m_space;
  InScratch<BySideSpace> m_by_side;
  int m_used[sides] = {};  ///< octaves that hold pixels, or lie before one that does
};

}  // namespace kastor::detail

#endif
