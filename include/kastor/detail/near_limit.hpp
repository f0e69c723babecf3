// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_NEAR_LIMIT_HPP
#define KASTOR_DETAIL_NEAR_LIMIT_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/moments.hpp>
#include <limits>

namespace kastor::detail {

/// Hosts: the pixels of a tail's octave about the limits of a clip. From pass to pass these move
/// towards the centre by less and less, so that soon only few pixels lie between where the last
/// limit was and where the next ones can be expected; what is nearer to the centre is added up
/// once. A guess: where a limit lies elsewhere the whole octave is looked at.
template <class T>
class NearLimit {
 public:
  static constexpr std::int64_t room = std::int64_t{1} << 15;

  /// Pixels, and the sums of what lies between them and the centre.
  struct Pixels {
    const T* list;
    std::int64_t n;
    TailSums inner;
  };
  /// Which of them to keep: the others, up to the last limit, are nearer to the centre.
  struct Choice {
    Interval<T> inner;
    HostTaking<T> kept;
  };

  /// Begins with the lower (0) or upper tail of another clip.
  void begin(int side) {
    m_side = side;
    m_octave = -1;
  }

  /// What to look at for what lies within a limit: what is kept, or `all`.
  [[nodiscard]] Pixels pixels_for(int octave, T limit, const Pixels& all) {
    if (octave != m_octave) {
      m_octave = octave;
      m_limits = 0;
      m_keeps = false;
      m_largest_step = std::numeric_limits<double>::infinity();
    }
    m_keeps = m_keeps && !is_beyond(limit, m_to) && !is_beyond(m_from, limit);
    return m_keeps ? Pixels{m_kept[m_which], m_n, m_inner} : all;
  }

  /// Whether to keep fewer of these, and then which: those from the last limit to as far from the
  /// one that is asked for on its other side, where the next ones are expected.
  [[nodiscard]] bool narrows(T limit, const Pixels& from, Choice& choice) const {
    constexpr std::int64_t few = 4096;  // are looked at in a microsecond
    if (m_limits < 2 || from.n <= few || !is_beyond(m_limit[0], limit)) return false;
    const double step = distance(m_limit[0], limit);
    const double density =
        static_cast<double>(m_within[1] - m_within[0]) / distance(m_limit[1], m_limit[0]);
    const double expected = 2 * step * density;
    const auto worth_it = static_cast<double>(std::min(from.n / 4, room));
    if (!(expected >= 0 && expected <= worth_it && step < m_largest_step)) return false;
    T nearest = limit - (m_limit[0] - limit);
    if (m_keeps && is_beyond(m_from, nearest)) nearest = m_from;  // there is nothing nearer
    if (!is_beyond(limit, nearest)) return false;
    choice = m_side == 0 ? Choice{{nearest, Interval<T>{}.high},
                                  {next_above(m_limit[0]), limit, next_above(nearest)}}
                         : Choice{{Interval<T>{}.low, nearest}, {nearest, limit, m_limit[0]}};
    return true;
  }
  /// Room for what is kept next, and a block more.
  [[nodiscard]] T* to_keep() { return m_kept[1 - m_which]; }
  /// There were more pixels than room: what was expected is not so until limits move much less.
  void give_up(T limit) { m_largest_step = distance(m_limit[0], limit) / 4; }
  /// After n pixels were put there, filled up to a whole block.
  Pixels keep(const Choice& choice, std::int64_t n, const TailSums& inner) {
    m_which = 1 - m_which;
    m_keeps = true;
    m_from = m_side == 0 ? choice.inner.low : choice.inner.high;
    m_to = m_limit[0];
    m_n = n;
    m_inner = inner;
    return {m_kept[m_which], m_n, m_inner};
  }

  /// That so many pixels of the octave lie within a limit.
  void note(T limit, std::int64_t within) {
    m_limit[1] = m_limit[0];
    m_within[1] = m_within[0];
    m_limit[0] = limit;
    m_within[0] = within;
    if (m_limits < 2) ++m_limits;
  }

 private:
  /// Farther from the centre.
  [[nodiscard]] bool is_beyond(T x, T y) const { return m_side == 0 ? x < y : x > y; }
  [[nodiscard]] static double distance(T a, T b) {
    return std::abs(static_cast<double>(a) - static_cast<double>(b));
  }

  int m_side = 0;
  int m_octave = -1;  ///< that is spoken of
  int m_limits = 0;   ///< known ones
  T m_limit[2] = {};  ///< the last ones, the later one first
  std::int64_t m_within[2] = {};
  double m_largest_step = 0;  ///< between limits
  bool m_keeps = false;
  T m_from{}, m_to{};  ///< limits between which those are right that are kept
  std::int64_t m_n = 0;
  TailSums m_inner;
  int m_which = 0;
  T m_kept[2][room + cell_block];
};

}  // namespace kastor::detail

#endif
