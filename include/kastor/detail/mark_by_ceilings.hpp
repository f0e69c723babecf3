// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_BY_CEILINGS_HPP
#define KASTOR_DETAIL_MARK_BY_CEILINGS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/ceilings_of_cells.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/kept_pixels.hpp>
#include <kastor/detail/map_along_row.hpp>
#include <kastor/detail/mark_words.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/detail/usable_pixels.hpp>
#include <kastor/detail/warp_crew.hpp>

/// Devices, where the ceilings of all pixels are known, and islands above the background are asked
/// for. One kernel lists the words of the masks where a pixel may be above the limit of its patch,
/// a fifth of them or less; the next looks at a quarter of each, as a rule, and lists the pixels
/// that are; the last evaluates the maps for these, a thread a pixel. So each of them has many
/// threads that wait for memory at once.
namespace kastor::detail {

/// A word of a mask that is to be looked at, and which quarters of it.
struct ListedWord {
  std::uint32_t word_and_quarters;

  /// Of so many words, each has a number.
  static constexpr std::int64_t most = std::int64_t{1} << 28;

  [[nodiscard]] KOKKOS_FUNCTION static ListedWord of(std::int64_t word, std::uint32_t quarters) {
    return {static_cast<std::uint32_t>(word) * 16 + quarters};
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t word() const { return word_and_quarters / 16; }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t quarters() const { return word_and_quarters % 16; }
};

/// What the kernels hand on.
struct BrightPixels {
  ListedWord* words;     ///< room for all
  std::uint64_t* count;  ///< of them
  std::uint64_t* bits;   ///< those listed, of a word; set only for words with one
};

/// Pixels of a word.
[[nodiscard]] KOKKOS_INLINE_FUNCTION std::uint64_t pixels_of_word(std::int64_t w, std::int64_t nx) {
  const std::int64_t rest = nx - w * 64;
  return rest >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rest) - 1;
}

/// Clears the foreground, and lists the words where it may be. A thread has the words of four rows
/// below one another, whose pixels have their ceilings together: if these are finite, no pixel is
/// blank, and a byte says so instead of the words. A team gets places in the list for all of its
/// words.
template <class Exec, Real T>
struct ListBrightWords {
  static constexpr int threads = 128;
  static constexpr int teams_at_once = 12;  ///< on a processor of a device
  using Member = TeamMember<Exec>;
  using Crew = WarpCrew<Member, threads>;
  static constexpr int scratch_bytes = sizeof(typename Crew::Space) + 16;
  static constexpr int rows = ceiling_rows;
  static_assert(UsablePixels::rows == rows);
  static_assert(patch_rows<Exec> % rows == 0);

  MarkWords<Exec, T> mark;
  CeilingsOfCells<T> ceilings;
  BrightPixels bright;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t columns() const {
    return static_cast<std::uint32_t>(mark.rows.ny + rows - 1) / rows *
           static_cast<std::uint32_t>(mark.masks.words_per_row);
  }
  [[nodiscard]] int teams() const {
    return static_cast<int>((std::int64_t{columns()} + threads - 1) / threads);
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const Crew crew(team, *scratch_of<typename Crew::Space>(team));
    const auto at = static_cast<std::uint32_t>(team.league_rank() * threads + crew.rank());
    const auto across = static_cast<std::uint32_t>(mark.masks.words_per_row);
    const std::uint32_t down = at / across;
    const std::int64_t w = at - down * across;
    const std::int64_t y = std::int64_t{rows} * down;
    std::uint32_t quarters[2] = {0, 0};  // of rows that share ceilings
    int there = 0;                       // rows
    if (at < columns()) {
      there = mark.rows.ny - y < rows ? static_cast<int>(mark.rows.ny - y) : rows;
      const std::uint64_t pixels = pixels_of_word(w, mark.rows.nx);
      const bool none_blank = find_quarters(y, w, pixels, quarters) && mark.region == nullptr;
      mark.masks.none_blank[at] = none_blank ? 1 : 0;
      KASTOR_UNROLL
      for (int row = 0; row < rows; ++row) {
        if (row >= there) continue;
        const std::int64_t word = word_of(y + row, w);
        mark.masks.foreground[word] = 0;
        mark.masks.seeds[word] = 0;
        if (!none_blank)
          mark.masks.usable[word] = mark.region == nullptr ? pixels : pixels & mark.region[word];
      }
    }
    // A byte for each row: row after row is listed, so that neighbours lie side by side.
    static_assert(threads < 256);
    std::uint32_t mine = 0, all = 0;
    KASTOR_UNROLL
    for (int row = 0; row < rows; ++row)
      mine |= (row < there && quarters[row % 2] != 0) ? 1U << (8 * row) : 0;
    const std::uint32_t before = crew.sum_before(mine, all);
    if (all == 0) return;
    std::uint64_t to = 0;
    if (crew.rank() == 0)
      to = Kokkos::atomic_fetch_add(bright.count, std::uint64_t{sum_of_bytes(all)});
    to = crew.sum(to);
    KASTOR_UNROLL
    for (int row = 0; row < rows; ++row) {
      if (row < there && quarters[row % 2] != 0)
        bright.words[to + (before >> (8 * row) & 255)] =
            ListedWord::of(word_of(y + row, w), quarters[row % 2]);
      to += all >> (8 * row) & 255;
    }
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t sum_of_bytes(std::uint32_t bytes) {
    return (bytes & 255) + (bytes >> 8 & 255) + (bytes >> 16 & 255) + (bytes >> 24);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t word_of(std::int64_t y, std::int64_t w) const {
    return y * mark.masks.words_per_row + w;
  }
  /// True: no pixel of these rows is blank.
  [[nodiscard]] KOKKOS_FUNCTION bool find_quarters(std::int64_t y, std::int64_t w,
                                                   std::uint64_t pixels,
                                                   std::uint32_t (&quarters)[2]) const {
    const PatchLimits<T> limits = *mark.limits_at(y, w);
    const auto* const packs = reinterpret_cast<const PixelPack<T>*>(ceilings.rows_from(y, w));
    bool none_blank = limits.holds_no_blank;
    KASTOR_UNROLL
    for (int k = 0; k < ceilings_of_rows; ++k) {
      const T ceiling = packs[k / PixelPack<T>::size].pixel[k % PixelPack<T>::size];
      const bool may_be_above = !(limits.holds_no_blank & (ceiling <= limits.above));
      const int q = k % 4;
      const bool is_there = (pixels >> (ceiling_columns * q) & 1) != 0;
      quarters[k / 4] |= (may_be_above & is_there) ? 1U << q : 0;
      none_blank &= (ceiling < Kokkos::Experimental::infinity_v<T>) | !is_there;
    }
    return none_blank;
  }
};

/// Lists the pixels of listed words that are above their limits, in the places of those that are to
/// be kept, as many as there is room for. A warp takes as many words as it has threads, and shares
/// out what it found: some words have no such pixel, and some have many.
template <class Exec, Real T>
struct ListBrightPixels {
  using Member = TeamMember<Exec>;
  using Crew = WarpCrew<Member, lanes>;
  static constexpr int warps = lone_warps<Member> ? 4 : 1;  ///< of a team
  static constexpr int threads = warps * lanes;
  static constexpr int teams_at_once = 8;  ///< on a processor of a device
  /// What each thread found.
  struct Space {
    typename Crew::Space crew;
    std::uint64_t bits[lanes];
    std::uint32_t past[lanes];  ///< pixels of this thread and those before
    std::uint32_t word[lanes];
  };
  static constexpr int scratch_bytes = warps * static_cast<int>(sizeof(Space)) + 16;

  MarkWords<Exec, T> mark;
  BrightPixels bright;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = scratch_of<Space>(team, warps)[team.team_rank() / lanes];
    const Crew crew(team, space.crew);
    const auto count = static_cast<std::int64_t>(*bright.count);
    const std::int64_t step = std::int64_t{team.league_size()} * threads;
    std::int64_t i = std::int64_t{team.league_rank()} * threads + team.team_rank();
    ListedWord listed = word_or_none(i, count);
    for (std::int64_t first = i - crew.rank(); first < count; first += step, i += step) {
      // The next one is under way while this one is looked at.
      const ListedWord next = word_or_none(i + step, count);
      look_at(crew, space, listed);
      listed = next;
    }
  }

 private:
  /// None: no quarter is to be looked at.
  [[nodiscard]] KOKKOS_FUNCTION ListedWord word_or_none(std::int64_t i, std::int64_t count) const {
    return i < count ? bright.words[i] : ListedWord{0};
  }
  KOKKOS_FUNCTION void look_at(const Crew& crew, Space& space, const ListedWord& listed) const {
    Word word{};
    std::uint64_t found = 0;
    if (listed.quarters() != 0) {
      word = Word(*this, listed.word());
      found = read(word, listed.quarters());
    }
    const std::uint32_t mine = ones_in(found);
    std::uint32_t all = 0;
    const std::uint32_t before = crew.sum_before(mine, all);
    if (all == 0) return;
    std::uint64_t next = 0;
    if (crew.rank() == 0) next = mark.kept.ask(all);
    space.bits[crew.rank()] = found;
    space.past[crew.rank()] = before + mine;
    space.word[crew.rank()] = word.at;
    next = crew.sum(next);
    const KeptPixels::Places places = mark.kept.granted(next, all);
    if (places.next + all <= places.past) {
      if (found != 0) {
        bright.bits[word.at] = found;
        mark.kept.first[word.at] = static_cast<std::uint32_t>(places.next + before);
      }
      crew.barrier();
      for (auto k = static_cast<std::uint32_t>(crew.rank()); k < all; k += lanes)
        mark.kept.places[places.next + k] = pixel_of(space, k);
    }
    crew.barrier();  // the next words' are written over these
  }

  /// Of those that the warp found, in order.
  [[nodiscard]] KOKKOS_FUNCTION KeptPixel pixel_of(const Space& space, std::uint32_t k) const {
    int thread = 0;
    KASTOR_UNROLL
    for (int half = lanes / 2; half > 0; half /= 2)
      thread += space.past[thread + half - 1] <= k ? half : 0;
    const std::uint64_t bits = space.bits[thread];
    const int x = place_of_one(bits, k - (space.past[thread] - ones_in(bits)));
    const Word word(*this, space.word[thread]);
    return KeptPixel::waiting(static_cast<double>(word.pixels[x]), word.y,
                              word.w * std::int64_t{64} + x);
  }

  struct Word {
    std::uint32_t at, y, w;
    const T* pixels;
    Word() = default;
    KOKKOS_FUNCTION Word(const ListBrightPixels& list, std::uint32_t word)
        : at(word),
          y(at / static_cast<std::uint32_t>(list.mark.masks.words_per_row)),
          w(at - y * static_cast<std::uint32_t>(list.mark.masks.words_per_row)),
          pixels(list.mark.rows.data + y * list.mark.rows.pitch + w * std::int64_t{64}) {}
  };

  /// Pixels of a quarter of a word; NaN beyond the image.
  struct Quarter {
    static constexpr int pack = PixelPack<T>::size;
    PixelPack<T> packs[ceiling_columns / pack];
    int begin = -1;

    KOKKOS_FUNCTION void load(const T* pixels, std::uint64_t there, int at) {
      begin = at;
      if ((there >> begin & 0xffff) == 0xffff) {
        const auto* const from = reinterpret_cast<const PixelPack<T>*>(pixels + begin);
        KASTOR_UNROLL
        for (int p = 0; p < ceiling_columns / pack; ++p) packs[p] = from[p];
      } else {
        KASTOR_UNROLL
        for (int k = 0; k < ceiling_columns; ++k)
          packs[k / pack].pixel[k % pack] = (there >> (begin + k) & 1) != 0
                                                ? pixels[begin + k]
                                                : Kokkos::Experimental::quiet_NaN_v<T>;
      }
    }
    KOKKOS_FUNCTION void look(T limit, std::uint64_t& finite, std::uint64_t& above) const {
      if (begin < 0) return;
      std::uint32_t is_finite = 0, is_above = 0;
      KASTOR_UNROLL
      for (int k = 0; k < ceiling_columns; ++k) {
        const T x = packs[k / pack].pixel[k % pack];
        is_finite |= Interval<T>{}.contains(x) ? 1U << k : 0;
        is_above |= x > limit ? 1U << k : 0;
      }
      finite &= ~(std::uint64_t{0xffff} << begin) | std::uint64_t{is_finite} << begin;
      above |= std::uint64_t{is_above} << begin;
    }
  };

  /// The pixels of a word that have to be judged; says which are usable.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t read(const Word& word, std::uint32_t quarters) const {
    const PatchLimits<T> limits = *mark.limits_at(word.y, word.w);
    const std::uint64_t there = pixels_of_word(word.w, mark.rows.nx);
    std::uint64_t finite = there, above = 0;
    constexpr int at_once = 2;
    KASTOR_KEEP_LOOP
    for (std::uint32_t left = quarters; left != 0;) {
      Quarter some[at_once];
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        if (left == 0) continue;
        some[k].load(word.pixels, there, ceiling_columns * lowest_one(left));
        left &= left - 1;
      }
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) some[k].look(limits.above, finite, above);
    }
    const std::uint64_t usable = mark.region == nullptr ? finite : finite & mark.region[word.at];
    if (usable != there) mark.masks.usable[word.at] = usable;
    return mark.to_judge(usable, limits.holds_no_blank, above, 0);
  }
};

/// Evaluates the maps at the pixels that were listed, keeps what they are there, and marks those
/// that are foreground or seeds.
template <class Exec, Real T>
struct JudgeListedPixels {
  static constexpr int threads = 128;      ///< of a team
  static constexpr int teams_at_once = 8;  ///< on a processor of a device
  MarkWords<Exec, T> mark;
  std::int64_t workers;

  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    const Need need = mark.kept.need();
    const auto count = need.is_met() ? static_cast<std::int64_t>(*need.count) : 0;
    for (std::int64_t i = worker; i < count; i += workers) {
      KeptPixel& pixel = mark.kept.places[i];
      const std::int64_t y = pixel.y(), x = pixel.x();
      const double value = pixel.value;
      const auto [sky, noise] = both_at(mark.thresholds.background, y, x);
      const auto judged = mark.judged(value, sky, noise);
      pixel = {value, sky, noise};
      const std::int64_t at = y * mark.masks.words_per_row + x / 64;
      const std::uint64_t bit = std::uint64_t{1} << (x % 64);
      if (!judged.usable) Kokkos::atomic_and(&mark.masks.usable[at], ~bit);
      if (judged.foreground) Kokkos::atomic_or(&mark.masks.foreground[at], bit);
      if (judged.seed) Kokkos::atomic_or(&mark.masks.seeds[at], bit);
    }
  }
};

}  // namespace kastor::detail

#endif
