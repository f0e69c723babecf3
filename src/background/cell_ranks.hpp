// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_CELL_RANKS_HPP
#define KASTOR_BACKGROUND_CELL_RANKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "background/cell_passes.hpp"
#include "core/group.hpp"
#include "core/interval.hpp"
#include "core/ordered_key.hpp"

namespace kastor::detail {

/// The pixels with low <= x < high, and the number of pixels below each bound.
template <class T>
struct RankBracket {
  T low, high;
  std::int64_t below_low, below_high;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return below_high - below_low; }
  [[nodiscard]] KOKKOS_FUNCTION bool holds(std::int64_t rank) const {
    return rank >= below_low && rank < below_high;
  }
  [[nodiscard]] KOKKOS_FUNCTION bool is_one_value() const {
    return !(core::next_above(low) < high);
  }
  /// Moves the bound on the threshold's side of the rank to the threshold, if that is within the
  /// bracket; `below` pixels are below the threshold.
  KOKKOS_FUNCTION void narrow(T threshold, std::int64_t below, std::int64_t rank) {
    if (below <= rank) {
      if (threshold > low) low = threshold, below_low = below;
    } else if (threshold < high) {
      high = threshold, below_high = below;
    }
  }
  /// The number halfway between the bounds, in the sequence of floating-point numbers.
  [[nodiscard]] KOKKOS_FUNCTION T middle() const {
    const core::Key<T> a = core::key_of(low), b = core::key_of(high);
    const T middle = core::value_of<T>(a + (b - a) / 2);
    return middle > low ? middle : core::next_above(low);  // +0 is not above -0
  }
};

template <class T>
struct TwoPixels {
  T first, second;
};

/// Finds pixels by rank, exactly. Narrows a bracket by counting until it contains few pixels; these
/// are sorted and kept, because the next ranks are nearby. The choice of brackets does not affect
/// the result. All threads of the group must ask for the same ranks.
template <class Exec, class Source>
class RankFinder {
 public:
  using T = typename Source::Pixel;
  static constexpr int sample_size = 64;
  /// Scratch memory of the group.
  struct Scratch {
    PixelList<T, 128> found;
    SortedPixels<T, 128> sorted;
  };

  /// `all`: the extent of the good pixels; there must be at least one.
  KOKKOS_FUNCTION RankFinder(const core::Group<Exec>& group, const Source& pixels,
                             const core::MinMaxCount<T>& all, Scratch& scratch)
      : m_group(group),
        m_pixels(pixels),
        m_scratch(scratch),
        m_all{all.min, core::next_above(all.max), 0, all.count} {}

  /// The pixel of rank k >= 0 and, if `two`, that of rank k + 1; otherwise the first one twice.
  [[nodiscard]] KOKKOS_FUNCTION TwoPixels<T> operator()(std::int64_t k, bool two) {
    if (!m_window.holds(k)) search(k);
    const T first = at(k);
    if (!two) return {first, first};
    return {first,
            m_window.holds(k + 1) ? at(k + 1) : smallest_from(m_group, m_pixels, m_window.high)};
  }

 private:
  static constexpr int room = PixelList<T, 128>::room;
  static constexpr int aside = 32;  ///< ranks kept on each side of the requested one

  [[nodiscard]] KOKKOS_FUNCTION T at(std::int64_t k) const {
    return m_is_sorted ? m_scratch.sorted[k - m_window.below_low] : m_window.low;
  }

  KOKKOS_FUNCTION void search(std::int64_t k) {
    RankBracket<T> bracket = m_all;
    if (m_window.count() > 0) {
      bracket.narrow(m_window.low, m_window.below_low, k);
      bracket.narrow(m_window.high, m_window.below_high, k);
    } else if (bracket.count() > 4 * sample_size) {
      narrow_by_sample(bracket, k);
    }
    // Every third attempt halves the bracket, so the search ends whatever the pixels are.
    for (int attempt = 1; !bracket.is_one_value(); ++attempt) {
      if (attempt % 3 == 0 && bracket.count() > room) {
        narrow(bracket, bracket.low, bracket.middle(), k);
      } else if (take(bracket, k)) {
        return;
      }
    }
    m_window = bracket;
    m_is_sorted = false;
  }

  KOKKOS_FUNCTION void narrow(RankBracket<T>& bracket, T from, T to, std::int64_t k) const {
    const CountsBelow<> below = count_below(m_group, m_pixels, from, to);
    bracket.narrow(from, below.low, k);
    bracket.narrow(to, below.high, k);
  }

  /// Narrows the bracket to two standard errors of a sample's rank on each side.
  KOKKOS_FUNCTION void narrow_by_sample(RankBracket<T>& bracket, std::int64_t k) {
    T* const pixels = m_scratch.found.pixels;
    const auto& sorted = m_scratch.sorted;
    m_group.barrier();
    sample<sample_size>(m_group, m_pixels, pixels);
    m_group.barrier();
    m_scratch.sorted.sort(m_group, pixels, sample_size);
    std::int64_t good[] = {0};
    m_group.for_each(sample_size, [&](int i) { good[0] += pixels[i] == pixels[i] ? 1 : 0; });
    m_group.sum_words(good);
    const auto n = static_cast<int>(good[0]);
    if (n < 16) return;
    const int at = static_cast<int>(k * n / bracket.count());
    const int low = at - n / 8, high = at + n / 8;
    narrow(bracket, sorted[low < 0 ? 0 : low], core::next_above(sorted[high < n ? high : n - 1]),
           k);
  }

  /// Takes the pixels around the place where the rank would be if pixels were evenly spread. False
  /// if the rank is elsewhere or there are too many of these pixels; the bracket is then narrower.
  KOKKOS_FUNCTION bool take(RankBracket<T>& bracket, std::int64_t k) {
    T from = bracket.low, to = bracket.high;
    if (bracket.count() > room) {
      // Assume the density next to the rank, if it is known.
      const RankBracket<T> known = m_window.count() > 0 && m_is_sorted ? m_window : bracket;
      const double unit = (static_cast<double>(known.high) - static_cast<double>(known.low)) /
                          static_cast<double>(known.count());
      const double rank = static_cast<double>(k - known.below_low) + 0.5;
      const T after = static_cast<T>(static_cast<double>(known.low) + (rank - aside) * unit);
      const T before = static_cast<T>(static_cast<double>(known.low) + (rank + aside) * unit);
      // Ignore bounds that rounding or an overflow has spoilt.
      if (after > from && after < to) from = after;
      if (before > from && before < to) to = before;
    }
    const CountsBelow<> below = take_between(m_group, m_pixels, from, to, m_scratch.found);
    const RankBracket<T> taken{from, to, below.low, below.high};
    if (taken.holds(k) && taken.count() <= room) {
      m_scratch.sorted.sort(m_group, m_scratch.found.pixels, static_cast<int>(taken.count()));
      m_window = taken;
      m_is_sorted = true;
      return true;
    }
    bracket.narrow(from, taken.below_low, k);
    bracket.narrow(to, taken.below_high, k);
    return false;
  }

  const core::Group<Exec>& m_group;
  const Source& m_pixels;
  Scratch& m_scratch;
  RankBracket<T> m_all;
  RankBracket<T> m_window{T{0}, T{0}, 0, 0};  ///< bracket of the pixels that are kept
  bool m_is_sorted = false;                   ///< else all of them are equal to the low bound
};

}  // namespace kastor::detail

#endif
