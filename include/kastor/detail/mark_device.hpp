// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_DEVICE_HPP
#define KASTOR_DETAIL_MARK_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/mark_words.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/team_scratch.hpp>

namespace kastor::detail {

/// Devices: a team fills some words, one after the other in the image. It reads their pixels
/// together, then lists those that have to be judged, so that its threads share these evenly.
template <class Exec, Real T>
struct MarkTile {
  using Member = TeamMember<Exec>;
  static constexpr int threads = 128;
  static constexpr int words = 64;         ///< of a team
  static constexpr int teams_at_once = 8;  ///< on a processor of a device

  struct Word {
    const T* pixels;
    T above, below;
    int size;  ///< pixels
    std::int64_t y, x;
  };
  /// Bits of a word's pixels.
  struct Found {
    std::uint64_t finite = 0, above = 0, below = 0;
  };
  /// Foreground, seeds, and those of negative islands.
  static constexpr int kinds = 4;
  /// Listed pixels whose maps are evaluated only once; in the words of a sky, all.
  static constexpr int looked_up = threads;
  struct Space {
    Word word[words];
    Found found[words];
    std::uint32_t usable[words][2];  ///< lower and upper half of a word
    std::uint32_t marked[kinds][words][2];
    std::uint16_t listed[words * 64];  ///< word and bit
    int listed_count;
    KeptPixel pixel[looked_up];
    KeptPixels::Places places;
    std::uint32_t place[words];  ///< of a word's first pixel that is kept
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  MarkWords<Exec, T> mark;

  [[nodiscard]] std::int64_t word_count() const { return mark.rows.ny * mark.masks.words_per_row; }
  [[nodiscard]] int teams() const { return static_cast<int>((word_count() + words - 1) / words); }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Space& space = *scratch_of<Space>(team);
    const int rank = team.team_rank();
    const std::int64_t first = std::int64_t{team.league_rank()} * words;
    const std::int64_t there = mark.rows.ny * mark.masks.words_per_row - first;
    const int n = there < words ? static_cast<int>(there) : words;
    if (rank == 0) space.listed_count = 0;
    bool holds_no_blank = true;  // of this thread's word
    if (rank < words) holds_no_blank = begin_word(space.word[rank], rank < n, first + rank);
    team.team_barrier();
    read(space, rank);
    team.team_barrier();
    if (rank < words) list(space, rank, rank < n, holds_no_blank, first + rank);
    team.team_barrier();
    // By a warp that seldom has a pixel to judge.
    if (rank == threads - lanes && space.listed_count > 0)
      space.places = mark.kept.take(static_cast<std::uint32_t>(space.listed_count));
    for (int i = rank; i < space.listed_count; i += threads) {
      const KeptPixel pixel = look_up(space, space.listed[i]);
      if (i < looked_up) space.pixel[i] = pixel;
      judge(space, space.listed[i], pixel);
    }
    team.team_barrier();
    if (rank < lanes) share_places(space, rank, first);
    const int w = rank - (threads - words);
    if (w >= 0 && w < n) write(space, w, first + w);
    team.team_barrier();
    for (int i = rank; i < space.listed_count; i += threads) keep(space, i);
  }

 private:
  KOKKOS_FUNCTION bool begin_word(Word& word, bool is_there, std::int64_t at) const {
    if (!is_there) {
      word = {nullptr, T{0}, T{0}, 0, 0, 0};
      return true;
    }
    const std::int64_t y = at / mark.masks.words_per_row;
    const std::int64_t w = at - y * mark.masks.words_per_row;
    const std::int64_t x = 64 * w;
    const std::int64_t rest = mark.rows.nx - x;
    const PatchLimits<T> limits = *mark.limits_at(y, w);
    word = {mark.rows.data + y * mark.rows.pitch + x, limits.above,       limits.below,
            rest < 64 ? static_cast<int>(rest) : 64,  mark.first_row + y, x};
    return limits.holds_no_blank;
  }

  KOKKOS_FUNCTION void read(Space& space, int rank) const {
#ifdef __CUDA_ARCH__
    constexpr int each = words / (threads / lanes);
    const int lane = rank % lanes;
    Word* const of_warp = space.word + rank / lanes * each;
    const Word& mine = of_warp[lane % each];
    const bool lies_behind =
        mine.size == 64 && mine.pixels == of_warp[0].pixels + 64 * (lane % each);
    const Found found = is_so_for_all_lanes(lies_behind) ? look<each, true>(of_warp, lane)
                                                         : look<each, false>(of_warp, lane);
    if (lane < each) space.found[rank / lanes * each + lane] = found;
#else
    if (rank >= words) return;
    const Word& word = space.word[rank];
    Found found;
    visit_word(word.pixels, word.size, [&](T x, int k) {
      found.finite |= static_cast<std::uint64_t>(Interval<T>{}.contains(x)) << k;
      found.above |= static_cast<std::uint64_t>(x > word.above) << k;
      found.below |= static_cast<std::uint64_t>(x < word.below) << k;
    });
    space.found[rank] = found;
#endif
  }
#ifdef __CUDA_ARCH__
  /// A warp looks at the pixels of half a word at a time, and each lane keeps what was found in the
  /// word of its number. `Whole`: all words are, and lie behind one another.
  template <int Words, bool Whole>
  [[nodiscard]] __device__ Found look(const Word* of_warp, int lane) const {
    constexpr int batch = 8;
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    const bool negative = mark.masks.negative_foreground != nullptr;
    const T* const begin = of_warp[0].pixels + lane;
    Found found;
    KASTOR_KEEP_LOOP
    for (int w = 0; w < Words; w += batch) {
      T pixel[batch][2];
      KASTOR_UNROLL
      for (int k = 0; k < 2 * batch; ++k) {
        if constexpr (Whole) {
          pixel[k / 2][k % 2] = begin[64 * w + lanes * k];
        } else {
          const Word& word = of_warp[w + k / 2];
          const int x = k % 2 * lanes + lane;
          pixel[k / 2][k % 2] =
              x < word.size ? word.pixels[x] : Kokkos::Experimental::quiet_NaN_v<T>;
        }
      }
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const T* const x = pixel[k];
        const bool is_mine = lane == w + k;
        const auto keep = [&](bool low, bool high, std::uint64_t& bits) {
          const std::uint64_t both = word_of(lanes_where(low), lanes_where(high));
          bits = is_mine ? both : bits;
        };
        keep(Kokkos::fabs(x[0]) < infinity, Kokkos::fabs(x[1]) < infinity, found.finite);
        const T above = of_warp[w + k].above;
        keep(x[0] > above, x[1] > above, found.above);
        if (!negative) continue;
        const T below = of_warp[w + k].below;
        keep(x[0] < below, x[1] < below, found.below);
      }
    }
    return found;
  }
#endif

  KOKKOS_FUNCTION void list(Space& space, int w, bool is_there, bool holds_no_blank,
                            std::int64_t at) const {
    const Found found = space.found[w];
    std::uint64_t usable = found.finite;
    if (mark.region != nullptr && is_there)
      usable &= mark.region[mark.first_row * mark.masks.words_per_row + at];
    put(space.usable[w], usable);
    KASTOR_UNROLL
    for (int k = 0; k < kinds; ++k) put(space.marked[k][w], 0);
    std::uint64_t rest = mark.to_judge(usable, holds_no_blank, found.above, found.below);
    // All threads of the first warps come here together: their reservations are joined.
    int to = scratch_fetch_add(&space.listed_count, static_cast<int>(ones_in(rest)));
    for (; rest != 0; rest &= rest - 1)
      space.listed[to++] = static_cast<std::uint16_t>(w * 64 + lowest_one(rest));
  }

  [[nodiscard]] KOKKOS_FUNCTION KeptPixel look_up(const Space& space, int listed) const {
    const Word& word = space.word[listed / 64];
    const int bit = listed % 64;
    const std::int64_t x = word.x + bit;
    const auto [sky, noise] = both_at(mark.thresholds.background, word.y, x);
    return {static_cast<double>(word.pixels[bit]), sky, noise};
  }
  KOKKOS_FUNCTION void judge(Space& space, int listed, const KeptPixel& found) const {
    const int w = listed / 64;
    const int bit = listed % 64;
    const auto pixel = mark.judged(found.value, found.sky, found.noise);
    const std::uint32_t one = 1U << (bit % 32);
    const bool is[kinds] = {pixel.foreground, pixel.seed, pixel.negative_foreground,
                            pixel.negative_seed};
    if (!pixel.usable) Kokkos::atomic_and(&space.usable[w][bit / 32], ~one);
    KASTOR_UNROLL
    for (int k = 0; k < kinds; ++k) {
      if (is[k]) Kokkos::atomic_or(&space.marked[k][w][bit / 32], one);
    }
  }

  KOKKOS_FUNCTION void write(const Space& space, int w, std::int64_t at) const {
    const std::int64_t word = mark.first_row * mark.masks.words_per_row + at;
    mark.masks.usable[word] = taken(space.usable[w]);
    mark.masks.foreground[word] = taken(space.marked[0][w]);
    mark.masks.seeds[word] = taken(space.marked[1][w]);
    if (mark.masks.negative_foreground == nullptr) return;
    mark.masks.negative_foreground[word] = taken(space.marked[2][w]);
    mark.masks.negative_seeds[word] = taken(space.marked[3][w]);
  }

  /// The foreground of a word, of either sign.
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t foreground(const Space& space, int w) {
    return taken(space.marked[0][w]) | taken(space.marked[2][w]);
  }
  /// For two words a lane.
  KOKKOS_FUNCTION void share_places(Space& space, int lane, std::int64_t first) const {
    static_assert(words == 2 * lanes);
    std::int64_t next = space.places.next;
    std::uint32_t pixels[2];
    for (int k = 0; k < 2; ++k) pixels[k] = ones_in(foreground(space, 2 * lane + k));
#ifdef __CUDA_ARCH__
    next += sum_up_to_lane(pixels[0] + pixels[1], lane) - (pixels[0] + pixels[1]);
#else
    for (int w = 0; w < 2 * lane; ++w) next += ones_in(foreground(space, w));
#endif
    const std::int64_t word = mark.first_row * mark.masks.words_per_row + first + 2 * lane;
    for (int k = 0; k < 2; ++k) {
      if (pixels[k] == 0) continue;
      const bool fits = next + pixels[k] <= space.places.past;
      const std::uint32_t place = fits ? static_cast<std::uint32_t>(next) : KeptPixels::none;
      space.place[2 * lane + k] = mark.kept.first[word + k] = place;
      next += pixels[k];
    }
  }
  KOKKOS_FUNCTION void keep(const Space& space, int i) const {
    const int w = space.listed[i] / 64;
    const int bit = space.listed[i] % 64;
    const std::uint64_t marked = foreground(space, w);
    if ((marked >> bit & 1) == 0) return;
    const std::uint32_t place = space.place[w];
    if (place == KeptPixels::none) return;
    mark.kept.places[place + ones_in(marked & ((std::uint64_t{1} << bit) - 1))] =
        i < looked_up ? space.pixel[i] : look_up(space, space.listed[i]);
  }
  KOKKOS_FUNCTION static void put(std::uint32_t (&halves)[2], std::uint64_t word) {
    halves[0] = static_cast<std::uint32_t>(word);
    halves[1] = static_cast<std::uint32_t>(word >> 32);
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t word_of(std::uint32_t low,
                                                             std::uint32_t high) {
    return low | std::uint64_t{high} << 32;
  }
  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t taken(const std::uint32_t (&halves)[2]) {
    return word_of(halves[0], halves[1]);
  }
};

}  // namespace kastor::detail

#endif
