// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_RANKS_BINS_HPP
#define KASTOR_SIGMA_CLIP_RANKS_BINS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <kastor/communicator.hpp>
#include <map>
#include <span>
#include <vector>

#include "core/host_list.hpp"
#include "core/ranks.hpp"
#include "sigma_clip/clip_steps.hpp"

/// The pixels that several ranks have gathered, as `Replay` asks for them. Each rank keeps its own;
/// counts, integer sums, and the pixels of a bin in which a median lies go to all of them. So all
/// get the answers of a single process, and take the same passes. All functions are collective, and
/// work on the host.
namespace kastor::detail {

/// The sorted bins of this rank, and the sums of all.
template <class Exec, class T>
class RanksBins {
 public:
  RanksBins(const Exec& space, Communicator& ranks, const ClipSteps<Exec, T>& steps)
      : m_space(space),
        m_ranks(ranks),
        m_brackets(core::host_copy(space, steps.parts().brackets, 1).front()),
        m_bins(m_brackets),
        m_pixels(steps.sorted().pixels),
        m_begin(core::host_copy(space, steps.sorted().begin, GatheredBins<T>::count + 1)),
        m_tail(core::host_copy(space, steps.sorted().tail, GatheredBins<T>::tails)) {
    std::vector<std::uint64_t> words;
    const auto octaves = core::host_copy(space, steps.sorted().octave, std::ssize(m_octave));
    for (const TailSums& sums : octaves)
      for (const std::int64_t word : sums.word) words.push_back(static_cast<std::uint64_t>(word));
    for (int bin = 0; bin < GatheredBins<T>::window; ++bin) words.push_back(own_size(bin));
    const auto totals = core::host_copy(space, steps.parts().totals, 1).front();
    words.insert(words.end(), std::begin(totals.word), std::end(totals.word));
    words.insert(words.end(), std::begin(totals.repeated), std::end(totals.repeated));
    ranks.sum(words);
    take(words);
  }

  [[nodiscard]] Communicator& ranks() const { return m_ranks; }
  [[nodiscard]] const Brackets<T>& brackets() const { return m_brackets; }
  [[nodiscard]] const GatheredBins<T>& bins() const { return m_bins; }
  /// The sums of all ranks between the edges.
  [[nodiscard]] const InsideTotals& totals() const { return m_totals; }
  /// The sums of all ranks over an octave of a tail.
  [[nodiscard]] const TailSums& octave(int side, int octave) const {
    return m_octave[static_cast<std::size_t>(side * TailOctaves::count + octave)];
  }
  /// Number of pixels of all ranks before each bin of the window, and after the last one.
  [[nodiscard]] const std::vector<std::uint64_t>& before_window_bin() const { return m_before; }

  [[nodiscard]] std::uint64_t own_size(int bin) const {
    const auto b = static_cast<std::size_t>(bin);
    return m_begin[b + 1] - m_begin[b];
  }
  /// The sums of this rank over a bin of a tail.
  [[nodiscard]] const TailSums& own_sums(int side, int bin) const {
    return m_tail[static_cast<std::size_t>(side * TailOctaves::bins + bin)];
  }
  /// The pixels of this rank in a bin.
  [[nodiscard]] const std::vector<T>& own_pixels(int bin) {
    const auto [place, is_new] = m_copies.try_emplace(bin);
    if (is_new)
      place->second = core::host_copy(m_space, m_pixels + m_begin[static_cast<std::size_t>(bin)],
                                      static_cast<std::int64_t>(own_size(bin)));
    return place->second;
  }

 private:
  void take(const std::vector<std::uint64_t>& words) {
    auto next = words.begin();
    for (TailSums& sums : m_octave)
      for (std::int64_t& word : sums.word) word = static_cast<std::int64_t>(*next++);
    m_before.assign(1, 0);
    for (int bin = 0; bin < GatheredBins<T>::window; ++bin)
      m_before.push_back(m_before.back() + *next++);
    for (std::uint64_t& word : m_totals.word) word = *next++;
    for (std::uint64_t& word : m_totals.repeated) word = *next++;
  }

  Exec m_space;
  Communicator& m_ranks;
  Brackets<T> m_brackets;
  GatheredBins<T> m_bins;
  const T* m_pixels;
  std::vector<std::uint32_t> m_begin;
  std::vector<TailSums> m_tail;
  std::array<TailSums, std::size_t{2} * TailOctaves::count> m_octave{};
  std::vector<std::uint64_t> m_before;
  InsideTotals m_totals{};
  std::map<int, std::vector<T>> m_copies;
};

/// `Tails` over all ranks.
template <class Exec, class T>
class RanksTails {
 public:
  static constexpr int sides = 2;

  explicit RanksTails(RanksBins<Exec, T>& of) : m_of(of) {
    for (int side = 0; side < sides; ++side) {
      TailPart* const parts = m_before_octave[side];
      for (int octave = 0; octave < TailOctaves::count; ++octave) {
        const TailSums& sums = of.octave(side, octave);
        if (sums.word[TailSums::count] == 0) continue;
        m_octaves[side] = octave + 1;
        parts[octave] = with_octave(of.bins(), TailPart{}, octave, sums);
      }
      add_up_outwards(parts, m_octaves[side]);
    }
  }

  [[nodiscard]] bool hold_all() const {
    return m_octaves[0] < TailOctaves::count && m_octaves[1] < TailOctaves::count;
  }
  void within(const core::Interval<T>& interval, TailPart (&parts)[sides]) {
    const T limit[sides] = {interval.low, interval.high};
    std::array<std::uint64_t, std::size_t{sides} * TailSums::words> words{};
    for (int side = 0; side < sides; ++side) {
      const TailSums sums = own_within(side, limit[side]);
      for (int k = 0; k < TailSums::words; ++k)
        words[static_cast<std::size_t>(side * TailSums::words + k)] =
            static_cast<std::uint64_t>(sums.word[k]);
    }
    m_of.ranks().sum(words);
    for (int side = 0; side < sides; ++side) {
      const int octave = TailOctaves::octave_of(bin_of_limit(limit[side]));
      TailSums sums;
      for (int k = 0; k < TailSums::words; ++k)
        sums.word[k] =
            static_cast<std::int64_t>(words[static_cast<std::size_t>(side * TailSums::words + k)]);
      parts[side] = octave < m_octaves[side]
                        ? with_octave(m_of.bins(), m_before_octave[side][octave], octave, sums)
                        : m_before_octave[side][m_octaves[side]];
    }
  }
  [[nodiscard]] T outermost(int side, const core::Interval<T>& interval) {
    const T limit = side == 0 ? interval.low : interval.high;
    core::Key<T> key = 0;
    for (int bin = bin_of_limit(limit); bin >= 0 && key == 0; --bin) {
      if (m_of.own_size(bin_in_all(side, bin)) == 0) continue;
      for (const T x : m_of.own_pixels(bin_in_all(side, bin)))
        if (is_within_limit(side, x, limit)) key = std::max(key, outward_key(side, x));
    }
    for (const auto& of_rank : core::gather_lists<core::Key<T>>(m_of.ranks(), {&key, 1}))
      key = std::max(key, of_rank.front());
    return key == 0 ? T{0} : value_of_outward_key<T>(side, key);
  }

 private:
  [[nodiscard]] static int bin_in_all(int side, int bin) {
    return GatheredBins<T>::window + side * TailOctaves::bins + bin;
  }
  [[nodiscard]] int bin_of_limit(T limit) const {
    return core::is_finite(limit) ? m_of.bins().in_tail(limit) : TailOctaves::bins - 1;
  }
  /// What this rank has within a limit, in the octave that the limit cuts.
  [[nodiscard]] TailSums own_within(int side, T limit) {
    TailSums sums;
    const int cut = bin_of_limit(limit);
    const int octave = TailOctaves::octave_of(cut);
    if (octave >= m_octaves[side]) return sums;
    for (int bin = TailOctaves::first_bin_of(octave); bin < cut; ++bin)
      sums += m_of.own_sums(side, bin);
    const TailTerm<T> term(m_of.bins().centre, m_of.bins().exponent_of(octave));
    for (const T x : m_of.own_pixels(bin_in_all(side, cut)))
      if (is_within_limit(side, x, limit)) term.add(x, sums);
    return sums;
  }

  RanksBins<Exec, T>& m_of;
  int m_octaves[sides] = {};
  TailPart m_before_octave[sides][TailOctaves::count + 1];
};

/// `Window` over all ranks.
template <class Exec, class T>
class RanksWindow {
 public:
  /// Bins with more pixels are not sent to all ranks.
  static constexpr std::uint64_t most_sent = std::uint64_t{1} << 17;

  explicit RanksWindow(RanksBins<Exec, T>& of) : m_of(of), m_before(of.before_window_bin()) {}

  [[nodiscard]] std::int64_t pixels() const { return static_cast<std::int64_t>(m_before.back()); }
  [[nodiscard]] std::int64_t below(T x) {
    const int bin = m_of.bins().in_window(x);
    const auto& own = m_of.own_pixels(bin);
    std::array<std::uint64_t, 1> n{static_cast<std::uint64_t>(
        std::count_if(own.begin(), own.end(), [&](T y) { return y < x; }))};
    m_of.ranks().sum(n);
    return static_cast<std::int64_t>(m_before[static_cast<std::size_t>(bin)] + n[0]);
  }
  [[nodiscard]] T operator()(std::int64_t rank) {
    const auto r = static_cast<std::uint64_t>(rank);
    const auto above = std::upper_bound(m_before.begin(), m_before.end(), r);
    const auto bin = static_cast<std::size_t>(above - m_before.begin()) - 1;
    const std::uint64_t in_bin = r - m_before[bin];
    if (m_before[bin + 1] - m_before[bin] > most_sent)
      return select(m_of.own_pixels(static_cast<int>(bin)), in_bin);
    return sorted(static_cast<int>(bin))[static_cast<std::size_t>(in_bin)];
  }

 private:
  using Key = core::Key<T>;

  [[nodiscard]] const std::vector<T>& sorted(int bin) {
    const auto [place, is_new] = m_sorted.try_emplace(bin);
    if (is_new) {
      const std::vector<T>& own = m_of.own_pixels(bin);
      for (const auto& of_rank : core::gather_lists<T>(m_of.ranks(), std::span<const T>(own)))
        place->second.insert(place->second.end(), of_rank.begin(), of_rank.end());
      std::sort(place->second.begin(), place->second.end());
    }
    return place->second;
  }
  /// Digit by digit of the ordered keys, from the most significant one (radix select).
  [[nodiscard]] T select(const std::vector<T>& own, std::uint64_t rank) {
    constexpr int digit_bits = 12;
    constexpr int key_bits = 8 * static_cast<int>(sizeof(Key));
    Key known = 0, prefix = 0;  // the bits that are known, and their values
    for (int left = key_bits; left > 0;) {
      const int shift = std::max(0, left - digit_bits);
      const auto digits = (Key{1} << (left - shift)) - 1;
      std::vector<std::uint64_t> counts(static_cast<std::size_t>(digits) + 1);
      for (const T x : own) {
        const Key key = core::key_of(core::without_sign_of_zero(x));
        if ((key & known) == prefix) ++counts[static_cast<std::size_t>(key >> shift & digits)];
      }
      m_of.ranks().sum(counts);
      std::size_t digit = 0;
      while (rank >= counts[digit]) rank -= counts[digit++];
      known |= static_cast<Key>(digits << shift);
      prefix |= static_cast<Key>(static_cast<Key>(digit) << shift);
      left = shift;
    }
    return core::value_of<T>(prefix);
  }

  RanksBins<Exec, T>& m_of;
  const std::vector<std::uint64_t>& m_before;
  std::map<int, std::vector<T>> m_sorted;
};

}  // namespace kastor::detail

#endif
