// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FILL_WORDS_HPP
#define KASTOR_DETAIL_FILL_WORDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/run_table.hpp>

namespace kastor::detail {

struct alignas(16) WordPair {
  std::uint64_t word[2];
};

/// Devices: writes the runs of words, of which each thread has one, two, or none. Where words have
/// many, the lanes of a warp first list them all in scratch memory: then each writes every 32nd, so
/// that neighbours write neighbours.
class FillWords {
 public:
  /// Of a warp: for each of its words the places of the ones that begin, or end, a run.
  struct Space {
    static constexpr int of_word = 32;
    std::uint16_t place[lanes * of_word];
  };

  KOKKOS_FUNCTION FillWords(const RunTable& table, Space& space) : m_table(table), m_space(space) {}

  /// Word `i` of the mask, 0 if the thread has none; `before` runs begin before it. All threads of
  /// a warp must call it.
  KOKKOS_FUNCTION void of_word(std::int64_t i, std::uint64_t word, std::uint64_t starts,
                               std::uint64_t before) const {
#ifdef __CUDA_ARCH__
    const bool is_many = has_many(ones_in(starts), before, 1);
    if (word != 0 && !is_many) fill_alone(i, word, starts, before);
    join_lanes();
    if (lanes_where(is_many) != 0)
      fill_together({i, word, starts, static_cast<std::uint32_t>(before), is_many});
#else
    if (word != 0) fill_alone(i, word, starts, before);
#endif
  }
  /// Words `i` and `i` + 1.
  KOKKOS_FUNCTION void of_pair(std::int64_t i, const WordPair& words, const WordPair& starts,
                               std::uint64_t before) const {
    const std::uint32_t of_first = ones_in(starts.word[0]);
#ifdef __CUDA_ARCH__
    const bool is_many = has_many(of_first + ones_in(starts.word[1]), before, 2);
    if (!is_many) fill_pair_alone(i, words, starts, before, of_first);
    join_lanes();
    if (lanes_where(is_many) == 0) return;
    // In their order, so that the runs of all lanes are behind one another.
    const int second = this_lane() % 2;
    KASTOR_KEEP_LOOP
    for (int half = 0; half < 2; ++half) {
      const int from = half * lanes / 2 + this_lane() / 2;
      const WordPair word_of = value_of_lane(words, from);
      const WordPair starts_of = value_of_lane(starts, from);
      const std::uint32_t skipped = value_of_lane(of_first, from);
      const Word word{
          value_of_lane(i, from) + second, second == 0 ? word_of.word[0] : word_of.word[1],
          second == 0 ? starts_of.word[0] : starts_of.word[1],
          value_of_lane(static_cast<std::uint32_t>(before), from) + (second == 0 ? 0 : skipped),
          value_of_lane(is_many, from)};
      fill_together(word);
    }
#else
    fill_pair_alone(i, words, starts, before, of_first);
#endif
  }

 private:
  KOKKOS_FUNCTION void fill_alone(std::int64_t i, std::uint64_t word, std::uint64_t starts,
                                  std::uint64_t before) const {
    const std::int64_t y = i / m_table.words.per_row;
    m_table.fill_word(y, i - y * m_table.words.per_row, word, starts, before);
  }
  KOKKOS_FUNCTION void fill_pair_alone(std::int64_t i, const WordPair& words,
                                       const WordPair& starts, std::uint64_t before,
                                       std::uint32_t of_first) const {
    if (words.word[0] != 0) fill_alone(i, words.word[0], starts.word[0], before);
    if (words.word[1] != 0) fill_alone(i + 1, words.word[1], starts.word[1], before + of_first);
  }

#ifdef __CUDA_ARCH__
  struct Word {
    std::int64_t i;
    std::uint64_t word, starts;
    std::uint32_t before;
    bool is_listed;
  };

  [[nodiscard]] __device__ bool has_many(std::uint32_t runs, std::uint64_t before,
                                         std::uint32_t words) const {
    constexpr std::uint32_t many = 3;  ///< of a word
    return runs > many * words && before + runs <= static_cast<std::uint64_t>(m_table.capacity);
  }

  /// The word of each lane that is listed.
  __device__ void fill_together(const Word& word) const {
    const MaskWords& words = m_table.words;
    const auto y = static_cast<std::int32_t>(word.i / words.per_row);
    const std::int64_t w = word.i - y * words.per_row;
    const auto x = static_cast<std::int32_t>(64 * w);
    const bool has_bits = word.is_listed && word.word != 0;
    const std::uint64_t starts = word.is_listed ? word.starts : 0;
    const std::uint64_t ends = has_bits ? words.ends(word.i, w, word.word) : 0;
    // A run that begins in the word before is the first to end.
    const auto coming_in = static_cast<std::uint32_t>(word.word & ~word.starts & 1);
    for_each_one(starts, [&](bool is_one, int from, int bit, std::uint32_t rank) {
      const std::uint32_t run = value_of_lane(word.before, from) + rank;
      const std::int32_t begin = value_of_lane(x, from) + bit;
      const std::int32_t row = value_of_lane(y, from);
      if (is_one) m_table.begin_run(run, begin, row);
    });
    for_each_one(ends, [&](bool is_one, int from, int bit, std::uint32_t rank) {
      const std::uint32_t run = value_of_lane(word.before - coming_in, from) + rank;
      const std::int32_t end = value_of_lane(x, from) + bit + 1;
      if (is_one) m_table.end[run] = end;
    });
  }

  /// Shares the ones of all lanes among them. Calls `visit(is one, whose, place, how many of its
  /// lane are below)` for all lanes at once.
  template <class Visit>
  __device__ void for_each_one(std::uint64_t bits, const Visit& visit) const {
    const int lane = this_lane();
    const std::uint32_t mine = ones_in(bits);
    const std::uint32_t up_to = sum_up_to_lane(mine, lane);
    const std::uint32_t all = value_of_lane(up_to, lanes - 1);
    std::uint16_t* to = m_space.place + (up_to - mine);
    KASTOR_UNROLL
    for (int half = 0; half < 64; half += 32) {
      const auto code = static_cast<std::uint32_t>(64 * lane + half);
      KASTOR_KEEP_LOOP
      for (auto rest = static_cast<std::uint32_t>(bits >> half); rest != 0; rest &= rest - 1)
        *to++ = static_cast<std::uint16_t>(
            code + static_cast<std::uint32_t>(__ffs(static_cast<int>(rest)) - 1));
    }
    join_lanes();
    KASTOR_KEEP_LOOP
    for (auto p = static_cast<std::uint32_t>(lane); p - static_cast<std::uint32_t>(lane) < all;
         p += lanes) {
      const int code = p < all ? m_space.place[p] : 0;
      const int from = code / 64;
      visit(p < all, from, code % 64, p - value_of_lane(up_to - mine, from));
    }
    join_lanes();
  }
#endif

  const RunTable& m_table;
  [[maybe_unused]] Space& m_space;  // by lanes only
};

}  // namespace kastor::detail

#endif
