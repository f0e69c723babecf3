// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_EXPECT_CLIP_HPP
#define KASTOR_DETAIL_EXPECT_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/clip_outline.hpp>
#include <kastor/detail/clip_rehearsal.hpp>
#include <kastor/detail/expected_clip.hpp>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/joined_tails.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/rough_clip.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/window_pixels.hpp>

namespace kastor::detail {

/// Finds the answers to what the passes of a clip will probably ask. Every team finds out all that
/// will be asked, for that takes less time than to be told, and then answers one question.
template <class T, class Exec>
struct ExpectClip {
  using Member = TeamMember<Exec>;
  using Crew = TeamCrew<Member>;
  using Tails = JoinedTails<T, Crew>;
  using Expected = ExpectedClip<T>;
  static constexpr int threads = ClipOutline::threads;
  static constexpr int teams_at_once = 1;
  static constexpr int sides = Expected::sides;
  /// For limits of both sides, ranks, and what concerns all passes.
  static constexpr int teams = sides * Expected::limits + Expected::ranks + 1;
  static_assert(threads == BySideSpace::threads);

  /// Pixels near a limit.
  struct NearSpace {
    T pixel[ExpectedLimit<T>::most_near];
    std::uint64_t sum[ExpectedLimit<T>::most_near], squares[ExpectedLimit<T>::most_near];
  };
  struct Space {
    JoinedTailsSpace<T> tails;
    BySideSpace by_side;
    union {  // one at a time
      ClipOutline outline;
      NearSpace near;
      T pixels[Expected::most_pixels];
    };
    std::uint32_t count, below;  ///< of pixels
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  ClipRequest request;
  const Brackets<T>* brackets;
  const GatherResult* read;
  std::int64_t capacity;
  const T* tails;
  TailSummaries<T> summaries;
  PageCounts counts;
  PagedWindow<T> window;
  Expected* expected;
  std::uint32_t* histogram;  ///< of the sample, which the next clip needs clear

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Crew crew(team);
    const int task = team.league_rank();
    for (int bin = task * threads + crew.rank(); bin < SampleBins::count; bin += teams * threads)
      histogram[bin] = 0;
    const bool for_all = task == teams - 1;
    const Gathered<T> gathered{*brackets, read->totals.sums()};
    const OutlineShare<T> share(crew.rank(), summaries, counts, window.begin);
    if (gathered.brackets.usable == 0 || gathered.brackets.spikes > 0 ||
        read->longest_list > capacity) {
      if (for_all && crew.rank() == 0) expected->usable = 0;
      return;
    }
    Space& space = *scratch_of<Space>(team);
    const GatheredBins<T> bins(gathered.brackets);
    const Tails joined(crew, bins, tails, summaries, nullptr, space.tails, space.by_side);
    share.put_into(crew, space.outline);
    ClipRehearsal<T, Crew> rehearsal(RoughClip<T, Crew>(gathered, joined, space.outline));
    ExpectedQuestion<T> question;
    if (task < sides * Expected::limits) {
      question.side = task % sides;
      question.limit = task / sides;
    } else {
      question.rank = task - sides * Expected::limits;
    }
    const ExpectedQuestions<T> questions = rehearsal(request.kappa, request.max_passes, question);
    question = questions.question;
    if (questions.is_vague) {
      if (for_all && crew.rank() == 0) expected->usable = 0;
      return;
    }
    if (for_all) return answer_for_all(crew, joined, questions);
    if (!question.is_asked) return;
    crew.barrier();  // the outline has been read
    if (crew.rank() == 0) space.count = space.below = 0;
    crew.barrier();
    if (question.limit >= 0) {
      answer_limit(crew, bins, joined, question, space);
    } else {
      answer_ranks(crew, bins, question, space);
    }
  }

 private:
  /// What is asked before the first pass and beyond all pixels, and that nothing else is expected.
  KOKKOS_FUNCTION void answer_for_all(const Crew& crew, const Tails& joined,
                                      const ExpectedQuestions<T>& questions) const {
    const T centre = brackets->centre;
    T outermost[sides] = {centre, centre};
    (void)joined.find_outermost(Interval<T>{}, outermost);
    ExpectedBounds<T>& bounds = expected->bounds;
    constexpr int all = Expected::limits;
    for (int i = crew.rank(); i < sides * lanes; i += crew.size())
      expected->limit[i / lanes][all].pixel[i % lanes] = Kokkos::Experimental::quiet_NaN_v<T>;
    for (int i = crew.rank(); i < sides * bounds.most; i += crew.size()) {
      const int side = i / bounds.most;
      const int at = i % bounds.most;
      if (at < of_side(side, questions.limits)) continue;
      const T last = of_side(side, outermost);
      constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
      bounds.inner[side][at] =
          at != all ? centre : (side == 0 ? next_below(last) : next_above(last));
      bounds.outer[side][at] = at != all ? centre : (side == 0 ? -infinity : infinity);
    }
    for (int at = questions.ranks + crew.rank(); at < bounds.most; at += crew.size())
      bounds.first[at] = bounds.past[at] = 0;
    if (crew.rank() != 0) return;
    for (int side = 0; side < sides; ++side) {
      ExpectedLimit<T>& limit = expected->limit[side][all];
      limit.part[0] = joined.all(side);
      limit.last = of_side(side, outermost);
      limit.has_last = 1;
    }
    expected->window = static_cast<std::uint32_t>(window.begin[GatheredBins<T>::window]);
    expected->usable = joined.hold_all() ? 1 : 0;
  }

  KOKKOS_FUNCTION void answer_limit(const Crew& crew, const GatheredBins<T>& bins,
                                    const Tails& joined, const ExpectedQuestion<T>& question,
                                    Space& space) const {
    constexpr int most_near = ExpectedLimit<T>::most_near;
    const int side = question.side;
    const T centre = brackets->centre;
    if (!question.is_sound) {
      if (crew.rank() == 0)
        expected->bounds.inner[side][question.limit] =
            expected->bounds.outer[side][question.limit] = centre;
      return;
    }
    ExpectedLimit<T>& to = expected->limit[side][question.limit];
    const T inner = question.inner;
    const T outer = question.outer;
    const int first = bins.in_tail(inner);
    const int last = bins.in_tail(outer);
    const int octave = TailOctaves::octave_of(first);
    const TailTerm<T> term(bins.centre, bins.exponent_of(octave));
    NearSpace& near = space.near;
    std::uint64_t outermost = 0;  // a key that grows outwards
    std::uint64_t halves[2][WideTailSums::words];
    by_side(crew, space.by_side, halves, AddWords{},
            [&](int, const auto&, std::uint64_t(&mine)[WideTailSums::words]) {
              // What is in memory is asked for before anything is looked at.
              const WideTailSums before = joined.share_before(crew.rank(), side, first);
              PixelsOfBins some;
              KASTOR_UNROLL
              for (int k = 0; k < PixelsOfBins::bins; ++k) {
                const BinSummary<T>& bin =
                    joined.summary(side, first + k <= last ? first + k : last);
                some.from[k] = tails + bin.begin;
                some.n[k] = first + k <= last ? bin.pixels() : 0;
              }
              outermost = outermost_of(joined, side, first - 1 - crew.rank());
              TailSums sums;
              some.add_to(sums, crew, term, [&](T x) {
                const bool is_certain = is_within(side, x, inner);
                const std::uint64_t key = outwards(side, key_of(x));
                if (is_certain && key > outermost) outermost = key;
                if (!is_certain && is_within(side, x, outer)) {
                  const std::uint32_t i = scratch_fetch_add(&space.count, 1U);
                  if (i < most_near) near.pixel[i] = x;
                }
                return is_certain;
              });
              const WideTailSums wide = WideTailSums::of(sums);
              KASTOR_UNROLL
              for (int k = 0; k < WideTailSums::words; ++k) mine[k] = wide.word[k] + before.word[k];
            });
    std::uint64_t certain[WideTailSums::words];
    KASTOR_UNROLL
    for (int k = 0; k < WideTailSums::words; ++k) certain[k] = halves[0][k] + halves[1][k];
    const int count = space.count <= most_near ? static_cast<int>(space.count) : 0;
    const int rank = crew.rank();
    if (rank < count) {
      const T x = near.pixel[rank];
      const int up = count_before(near.pixel, rank, 0, count);
      const int place = side == 0 ? count - 1 - up : up;
      FewTailSums few;
      term.add(x, true, few);
      near.sum[place] = few.sum;
      near.squares[place] = few.squares;
      to.pixel[place] = x;
    } else if (rank < lanes) {
      to.pixel[rank] = Kokkos::Experimental::quiet_NaN_v<T>;
    }
    crew.barrier();
    if (rank <= count) {
      FewTailSums few;
      few.count = few.terms = static_cast<std::uint32_t>(rank);
      KASTOR_KEEP_LOOP
      for (int i = 0; i < rank; ++i) {
        few.sum += near.sum[i];
        few.squares += near.squares[i];
      }
      TailSums within = WideTailSums::joined_from(certain);
      few.move_to(within);
      const TailPart& before = joined.before(side, octave);
      to.part[rank] = {before.count + within.count,
                       before.sum + bins.in_grid_units(within.sum, octave, false),
                       before.squares + bins.in_grid_units(within.squares, octave, true)};
    }
    std::uint64_t keys[2][1];
    by_side(crew, space.by_side, keys, LargerWord{},
            [&](int, const auto&, std::uint64_t(&mine)[1]) { mine[0] = outermost; });
    if (rank != 0) return;
    outermost = keys[0][0] > keys[1][0] ? keys[0][0] : keys[1][0];
    to.last = value_of<T>(outwards(side, static_cast<Key<T>>(outermost)));
    to.has_last = outermost != 0 ? 1 : 0;
    const bool is_known =
        space.count <= most_near && last >= first && last - first < PixelsOfBins::bins;
    expected->bounds.inner[side][question.limit] = is_known ? inner : centre;
    expected->bounds.outer[side][question.limit] = is_known ? outer : centre;
  }
  /// Of the bins that the bounds of a limit lie in, one after the other.
  struct PixelsOfBins {
    static constexpr int bins = 3;
    const T* from[bins];
    std::int64_t n[bins];

    /// Those of this thread's share for which `wanted(pixel)` holds, which is asked of all.
    template <class Wanted>
    KOKKOS_FUNCTION void add_to(TailSums& sums, const Crew& crew, const TailTerm<T>& term,
                                const Wanted& wanted) const {
      static_assert(bins == 3);
      const std::int64_t all = n[0] + n[1] + n[2];
      constexpr std::int64_t many = 8192;
      if (all <= many) return add_few_to(sums, crew, all, term, wanted);
      KASTOR_KEEP_LOOP
      for (int b = 0; b < bins; ++b) {
        add_tail<true>(crew, b == 0 ? from[0] : (b == 1 ? from[1] : from[2]),
                       b == 0 ? n[0] : (b == 1 ? n[1] : n[2]), term, sums, wanted);
      }
    }

   private:
    /// Short code: it runs once and has to be fetched first.
    template <class Wanted>
    KOKKOS_FUNCTION void add_few_to(TailSums& sums, const Crew& crew, std::int64_t all,
                                    const TailTerm<T>& term, const Wanted& wanted) const {
      constexpr int batch = 4;  ///< pixels of a thread that are under way at once
      const std::int64_t step = crew.size();
      KASTOR_KEEP_LOOP
      for (std::int64_t first = crew.rank(); first < all; first += batch * step) {
        T x[batch]{};
        KASTOR_UNROLL
        for (int j = 0; j < batch; ++j) {
          const std::int64_t i = first + j * step;
          if (i < all) x[j] = at(i);
        }
        FewTailSums few;
        KASTOR_UNROLL
        for (int j = 0; j < batch; ++j) {
          if (first + j * step >= all) break;
          term.add(x[j], wanted(x[j]), few);
        }
        few.move_to(sums);
      }
    }
    /// In one load, wherever it is: several are under way only where no branch parts them.
    [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t i) const {
      const T* bin = from[0];
      std::int64_t k = i;
      if (i >= n[0]) {
        bin = from[1];
        k = i - n[0];
      }
      if (i >= n[0] + n[1]) {
        bin = from[2];
        k = i - n[0] - n[1];
      }
      return bin[k];
    }
  };

  /// Of a bin's pixels, as a key that grows outwards; 0: there are none.
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t outermost_of(const Tails& joined, int side,
                                                                  int bin) {
    if (bin < 0) return 0;
    const BinSummary<T>& summary = joined.summary(side, bin);
    if (summary.pixels() == 0) return 0;
    return outwards(side, key_of(side == 0 ? summary.min() : summary.max()));
  }
  [[nodiscard]] KOKKOS_FUNCTION static Key<T> outwards(int side, Key<T> key) {
    return side == 0 ? static_cast<Key<T>>(~key) : key;
  }

  KOKKOS_FUNCTION void answer_ranks(const Crew& crew, const GatheredBins<T>& bins,
                                    const ExpectedQuestion<T>& question, Space& space) const {
    constexpr int room = Expected::most_pixels;
    const int first = bin_of_rank(question.first, question.bin);
    const int last = bin_of_rank(question.past, question.bin);
    const std::uint64_t begin = window.begin[first];
    const std::uint64_t end = window.begin[last + 1];
    // Equal ones, as a rule: it would take longer to look through them here than in the replay.
    if (window.fill_pages(first, last)) {
      if (crew.rank() == 0)
        expected->bounds.first[question.rank] = expected->bounds.past[question.rank] = 0;
      return;
    }
    // Of many pixels those about the ranks.
    const bool is_few = end - begin <= room;
    const T low = is_few ? bins.window_low : about_rank(bins, first, question.first);
    const T high = is_few ? bins.window_high : about_rank(bins, last, question.past);
    window.for_each_of_few(crew, first, last, [&](T x) {
      if (x < low) {
        (void)scratch_fetch_add(&space.below, 1U);
      } else if (x <= high) {
        const std::uint32_t i = scratch_fetch_add(&space.count, 1U);
        if (i < room) space.pixels[i] = x;
      }
    });
    crew.barrier();
    const int count = space.count <= room ? static_cast<int>(space.count) : 0;
    const int rank = crew.rank();
    static_assert(room <= threads);
    if (rank < count)
      expected->pixel[question.rank][count_before(space.pixels, rank, 0, count)] =
          space.pixels[rank];
    if (rank == 0) {
      const auto below = static_cast<std::uint32_t>(begin) + space.below;
      expected->bounds.first[question.rank] = below;
      expected->bounds.past[question.rank] = below + static_cast<std::uint32_t>(count);
    }
  }

  /// Clamped to those there are. `bin`: it is near that, as a rule.
  [[nodiscard]] KOKKOS_FUNCTION int bin_of_rank(std::int64_t rank, int bin) const {
    constexpr int all = GatheredBins<T>::window;
    const std::int64_t last = static_cast<std::int64_t>(window.begin[all]) - 1;
    const std::int64_t clamped = rank < 0 ? 0 : (rank < last ? rank : last);
    return last_not_above_near(window.begin, all, static_cast<std::uint64_t>(clamped), bin);
  }
  /// About the pixel of a rank in a bin.
  [[nodiscard]] KOKKOS_FUNCTION T about_rank(const GatheredBins<T>& bins, int bin,
                                             std::int64_t rank) const {
    const auto begin = static_cast<std::int64_t>(window.begin[bin]);
    const auto n = static_cast<double>(window.begin[bin + 1] - window.begin[bin]);
    const double share = static_cast<double>(rank - begin) / n;
    return static_cast<T>(bins.low + (bin + share) / bins.per_unit);
  }
};

}  // namespace kastor::detail

#endif
