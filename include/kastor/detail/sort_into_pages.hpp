// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SORT_INTO_PAGES_HPP
#define KASTOR_DETAIL_SORT_INTO_PAGES_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gather_device.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/sums_before.hpp>
#include <kastor/detail/team_scratch.hpp>

/// Sorts the gathered pixels of a device by their bins, in pages that fit into the scratch memory
/// of a team: a pixel is read and written once, beside others. What one bin has is spread over all
/// pages, each of which knows where its bins begin.
namespace kastor::detail {

/// All pages but the last are full. Their bins are those of the window, then groups of those of the
/// tails.
template <class T>
struct SortedPages {
  static constexpr int first_group = GatheredBins<T>::window;
  static constexpr int bins = first_group + 2 * TailOctaves::groups;
  static constexpr int row = (bins + 16) / 16 * 16;

  T* pixels;             ///< (pages, page_size)
  std::uint16_t* begin;  ///< (pages, row): of bins in the page, and the end of the last one
  std::uint32_t* count;  ///< of the pages
  std::int32_t page_size;

  /// The begin of a bin and of the next.
  struct Places {
    std::uint32_t begin, end;
  };
  [[nodiscard]] KOKKOS_FUNCTION Places places(std::int64_t page, int bin) const {
    return places(page, bin, bin);
  }
  /// The same of the bins from one to another.
  [[nodiscard]] KOKKOS_FUNCTION Places places(std::int64_t page, int first, int last) const {
    const std::uint16_t* const of_page = begin + page * row;
    return {of_page[first], of_page[last + 1]};
  }
  [[nodiscard]] KOKKOS_FUNCTION const T* page(std::int64_t i) const {
    return pixels + i * page_size;
  }
};

/// Pixels of all pages together; 0 before the sort.
struct PageCounts {
  static constexpr int tail_bins = 2 * TailOctaves::bins;
  std::uint32_t* of_bin;   ///< (SortedPages::bins)
  std::uint32_t* of_tail;  ///< (tail_bins)
  std::uint32_t* joined;   ///< of the tails' groups that a team has alone, so far
  std::uint32_t* placed;   ///< (tail_bins): of the others, so far
};

/// A team sorts a page at a time.
template <class T, class Exec>
struct SortIntoPages {
  using Bins = GatheredBins<T>;
  using Pages = SortedPages<T>;
  using Member = TeamMember<Exec>;
  static constexpr int threads = 512;
  static constexpr int teams_at_once = 2;        ///< on a processor of a device
  static constexpr int words = Pages::bins / 2;  ///< of two counters each
  static constexpr int tail_words = PageCounts::tail_bins / 2;
  static constexpr int most_words = words > tail_words ? words : tail_words;
  static_assert(Pages::bins % 2 == 0 && PageCounts::tail_bins % 2 == 0);
  static constexpr int words_of_thread = (words + threads - 1) / threads;
  using Sums = SumsBeforeSpace<std::uint32_t, 1, threads>;
  static constexpr int most_segments = 1024;
  static constexpr std::int32_t most_pixels = 29952 / sizeof(T);  ///< of a page
  static constexpr int pixels_of_thread = (most_pixels + threads - 1) / threads;
  static_assert(most_pixels < 65536);

  struct Space {
    union {
      T pixels[most_pixels];
      Sums sums;
    };
    std::uint32_t counters[most_words];  ///< the lower 16 bits first
    std::uint32_t segment_begin[most_segments + 1];
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  /// Any device has so much for a team, of which Kokkos takes some for its own reductions.
  static_assert(scratch_bytes + (threads + 3) * 8 <= 48 * 1024);

  const Brackets<T>* brackets;
  Segmented<T> lists;
  int segments;
  Pages pages;
  PageCounts counts;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    if (brackets->usable == 0) return;
    Space& space = *scratch_of<Space>(team);
    find_segments(team, space);
    const std::uint32_t all = space.segment_begin[segments];
    const auto size = static_cast<std::uint32_t>(pages.page_size);
    const std::uint32_t count = all / size + (all % size != 0 ? 1 : 0);
    if (team.league_rank() == 0 && team.team_rank() == 0) *pages.count = count;
    const auto step = static_cast<std::uint32_t>(team.league_size());
    for (auto p = static_cast<std::uint32_t>(team.league_rank()); p < count; p += step) {
      const std::uint32_t first = p * size;
      sort(team, space, p, first, all - first < size ? all - first : size);
    }
  }

 private:
  /// Where each segment begins among all gathered pixels.
  KOKKOS_FUNCTION void find_segments(const Member& team, Space& space) const {
    constexpr int share = most_segments / threads;
    static_assert(most_segments % threads == 0);
    const int first = team.team_rank() * share;
    std::uint32_t n[share];
    std::uint32_t before[1] = {0};
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k)
      n[k] = first + k < segments ? static_cast<std::uint32_t>(lists.gathered_by(first + k)) : 0;
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) before[0] += n[k];
    sums_before(TeamCrew<Member>(team), space.sums, before);
    KASTOR_UNROLL
    for (int k = 0; k < share; ++k) {
      space.segment_begin[first + k] = before[0];
      before[0] += n[k];
    }
    if (team.team_rank() == threads - 1) space.segment_begin[most_segments] = before[0];
    team.team_barrier();
  }

  /// Those of a thread among pixels [first, first + n) of all: every so many-th as there are
  /// threads.
  KOKKOS_FUNCTION void load(const Space& space, int rank, std::uint32_t first, std::uint32_t n,
                            T (&mine)[pixels_of_thread]) const {
    int segment = last_not_above_by_lanes(space.segment_begin, segments, first);
    std::uint32_t end = space.segment_begin[segment + 1];
    const auto first_of = [&](int s) {
      return lists.gathered + (s * lists.capacity - space.segment_begin[s]);
    };
    const T* from = first_of(segment);
    std::uint32_t i = first + static_cast<std::uint32_t>(rank);
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k, i += threads) {
      if (i - first >= n) break;
      if (i >= end) {  // seldom: a page is of one segment or two, as a rule
        while (i >= space.segment_begin[segment + 1]) ++segment;
        end = space.segment_begin[segment + 1];
        from = first_of(segment);
      }
      mine[k] = from[i];
    }
  }

  /// Pixels [first, first + n) of all.
  KOKKOS_FUNCTION void sort(const Member& team, Space& space, std::int64_t page,
                            std::uint32_t first, std::uint32_t n) const {
    const int rank = team.team_rank();
    const auto place = [rank](int k) { return static_cast<std::uint32_t>(rank + k * threads); };
    T mine[pixels_of_thread]{};
    load(space, rank, first, n, mine);
    for (int w = rank; w < words; w += threads) space.counters[w] = 0;
    team.team_barrier();
    const Bins bin_of(*brackets);
    // A pixel's code, and in the upper half how many of the bin came before it.
    std::uint32_t code[pixels_of_thread]{};
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k) {
      if (place(k) >= n) break;
      code[k] = code_of(bin_of, mine[k]);
      const std::uint32_t bin = bin_in_page(code[k]);
      const std::uint32_t shift = bin % 2 * 16;
      code[k] |= scratch_fetch_add(&space.counters[bin / 2], 1U << shift) >> shift << 16;
    }
    team.team_barrier();
    turn_into_begins(team, space);
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k) {
      if (place(k) >= n) break;
      const std::uint32_t here = bin_in_page(code[k]);
      const std::uint32_t begin = space.counters[here / 2] >> (here % 2 * 16);
      space.pixels[(begin + (code[k] >> 16)) & 0xffff] = mine[k];
    }
    team.team_barrier();
    write(space, page, n, rank);
    team.team_barrier();
    for (int w = rank; w < tail_words; w += threads) space.counters[w] = 0;
    team.team_barrier();
    KASTOR_UNROLL
    for (int k = 0; k < pixels_of_thread; ++k) {
      if (place(k) >= n) break;
      if (bin_in_page(code[k]) < Pages::first_group) continue;
      const std::uint32_t bin = bin_of_tails(code[k]);
      (void)scratch_fetch_add(&space.counters[bin / 2], 1U << (bin % 2 * 16));
    }
    team.team_barrier();
    for (int w = rank; w < tail_words; w += threads)
      add_to_two(counts.of_tail, w, space.counters[w] & 0xffff, space.counters[w] >> 16);
    team.team_barrier();
  }

  /// A pixel's bin in a page, and if that is a group of those of the tails, which of them.
  static constexpr int code_bits = 13;
  static_assert(Pages::bins <= 1 << code_bits && TailOctaves::in_group <= 1 << (16 - code_bits));
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t code_of(const Bins& bin_of, T x) {
    if (bin_of.is_in_window(x)) return static_cast<std::uint32_t>(bin_of.in_window(x));
    const auto bin = static_cast<std::uint32_t>(bin_of.in_tails(x));
    return (Pages::first_group + bin / TailOctaves::in_group) | bin % TailOctaves::in_group
                                                                    << code_bits;
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t bin_in_page(std::uint32_t code) {
    return code & ((1U << code_bits) - 1);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t bin_of_tails(std::uint32_t code) {
    return (bin_in_page(code) - Pages::first_group) * TailOctaves::in_group +
           (code >> code_bits) % TailOctaves::in_group;
  }

  /// The counters of bins become their begins.
  KOKKOS_FUNCTION static void turn_into_begins(const Member& team, Space& space) {
    const int first = team.team_rank() * words_of_thread;
    std::uint32_t n[words_of_thread];
    std::uint32_t before[1] = {0};
    KASTOR_UNROLL
    for (int k = 0; k < words_of_thread; ++k) {
      n[k] = first + k < words ? space.counters[first + k] : 0;
      before[0] += (n[k] & 0xffff) + (n[k] >> 16);
    }
    sums_before(TeamCrew<Member>(team), space.sums, before);
    KASTOR_UNROLL
    for (int k = 0; k < words_of_thread; ++k) {
      const std::uint32_t middle = before[0] + (n[k] & 0xffff);
      if (first + k < words) space.counters[first + k] = before[0] | middle << 16;
      before[0] = middle + (n[k] >> 16);
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void write(const Space& space, std::int64_t page, std::uint32_t n,
                             int rank) const {
    T* const to = pages.pixels + page * pages.page_size;
    for (int i = rank; i < static_cast<int>(n); i += threads) to[i] = space.pixels[i];
    auto* const row = pages.begin + page * Pages::row;
    auto* const row_words = reinterpret_cast<std::uint32_t*>(row);
    for (int w = rank; w < words; w += threads) {
      const std::uint32_t here = space.counters[w];
      const std::uint32_t next = w + 1 < words ? space.counters[w + 1] & 0xffff : n;
      row_words[w] = here;
      add_to_two(counts.of_bin, w, (here >> 16) - (here & 0xffff), next - (here >> 16));
    }
    if (rank == 0) row[Pages::bins] = static_cast<std::uint16_t>(n);
  }

  /// Adds to counters 2 w and 2 w + 1 at once; neither overflows.
  KOKKOS_FUNCTION static void add_to_two(std::uint32_t* counters, int w, std::uint32_t lower,
                                         std::uint32_t upper) {
    if ((lower | upper) == 0) return;
    Kokkos::atomic_add(&reinterpret_cast<std::uint64_t*>(counters)[w],
                       std::uint64_t{lower} | std::uint64_t{upper} << 32);
  }
};

}  // namespace kastor::detail

#endif
