// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_EXPECTED_CLIP_HPP
#define KASTOR_DETAIL_EXPECTED_CLIP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/team_scratch.hpp>

/// What the passes of a clip will probably ask of a device's tails and window, and the answers.
namespace kastor::detail {

/// What a tail has within any limit between two bounds.
template <class T>
struct ExpectedLimit {
  static constexpr int most_near = 24;

  T pixel[lanes];  ///< between the bounds, outwards; behind them NaN
  TailPart
      part[most_near + 1];  ///< within a limit if so many of these are; as far as there are any
  T last;                   ///< the outermost pixel that is within all these limits
  int has_last;             ///< 0: it is not known
};

/// All the numbers that a pass looks through first.
template <class T>
struct ExpectedBounds {
  static constexpr int most = 16;
  /// Of limits of each side: the bound nearer the centre, and the other one. Where nothing is
  /// expected they are the centre, where no limit is.
  T inner[2][most], outer[2][most];
  std::uint32_t first[most], past[most];  ///< of ranks in the window
};

template <class T>
struct ExpectedClip {
  static constexpr int sides = 2;
  static constexpr int limits = 12;  ///< of a side, and one beyond all pixels
  static constexpr int ranks = 9;
  static constexpr int most_pixels = 256;  ///< of consecutive ranks
  static_assert(limits < ExpectedBounds<T>::most && ranks <= ExpectedBounds<T>::most);

  std::uint32_t usable;  ///< 0: nothing is expected, and the rest means nothing
  std::uint32_t window;  ///< its pixels
  ExpectedBounds<T> bounds;
  ExpectedLimit<T> limit[sides][limits + 1];
  T pixel[ranks][most_pixels];  ///< in order
};

/// Answers for the tails as long as the limits are expected ones. All threads of a team ask
/// together.
template <class T>
class ExpectedTails {
 public:
  static constexpr int sides = ExpectedClip<T>::sides;
  KOKKOS_FUNCTION explicit ExpectedTails(ExpectedClip<T>& expected) : m_expected(expected) {}

  [[nodiscard]] KOKKOS_FUNCTION static bool hold_all() { return true; }

  /// What each tail has within an interval. False: it is not known.
  [[nodiscard]] KOKKOS_FUNCTION bool within(const Interval<T>& interval,
                                            TailPart (&parts)[sides]) const {
    const Found found = find(interval);
    if (!found.both) return false;
    parts[0] = m_expected->limit[0][found.at[0]].part[found.near[0]];
    parts[1] = m_expected->limit[1][found.at[1]].part[found.near[1]];
    return true;
  }

  /// The outermost pixels within an interval, of each tail that has any there. False: as above.
  [[nodiscard]] KOKKOS_FUNCTION bool find_outermost(const Interval<T>& interval,
                                                    T (&extreme)[sides]) const {
    const Found found = find(interval);
    if (!found.both) return false;
    KASTOR_UNROLL
    for (int side = 0; side < sides; ++side) {
      const ExpectedLimit<T>& limit = m_expected->limit[side][found.at[side]];
      const int near = found.near[side];
      if (near == 0 && limit.has_last == 0 && limit.part[0].count > 0) return false;
      extreme[side] = near > 0 ? limit.pixel[near - 1] : limit.last;
    }
    return true;
  }

 private:
  /// The expected limits that hold those of an interval, and how many of the near pixels are
  /// within.
  struct Found {
    bool both;
    int at[sides], near[sides];
  };
  [[nodiscard]] KOKKOS_FUNCTION Found find(const Interval<T>& interval) const {
    const auto holds = [&](int side, int i) {
      const T limit = side == 0 ? interval.low : interval.high;
      const ExpectedBounds<T>& bounds = m_expected->bounds;
      const T inner = bounds.inner[side][i], outer = bounds.outer[side][i];
      return side == 0 ? (limit <= inner) & (limit >= outer) : (limit >= inner) & (limit <= outer);
    };
    Found found{};
#ifdef __CUDA_ARCH__
    constexpr int most = ExpectedBounds<T>::most;
    static_assert(sides * most == lanes);
    const int lane = this_lane();
    const std::uint32_t all = lanes_where(holds(lane / most, lane % most));
    const std::uint32_t lower = all & 0xffff;
    const std::uint32_t upper = all >> most;
    found.both = (lower != 0) & (upper != 0);
    if (!found.both) return found;
    found.at[0] = first_lane_of(lower);
    found.at[1] = first_lane_of(upper);
    const T low = m_expected->limit[0][found.at[0]].pixel[lane];
    const T high = m_expected->limit[1][found.at[1]].pixel[lane];
    found.near[0] = __popc(lanes_where(is_within(0, low, interval.low)));
    found.near[1] = __popc(lanes_where(is_within(1, high, interval.high)));
#else
    found.both = true;
    for (int side = 0; side < sides; ++side) {
      int& at = found.at[side];
      while (at < ExpectedBounds<T>::most && !holds(side, at)) ++at;
      if (at == ExpectedBounds<T>::most) return {};
      const T limit = side == 0 ? interval.low : interval.high;
      const T* const pixel = m_expected->limit[side][at].pixel;
      while (is_within(side, pixel[found.near[side]], limit)) ++found.near[side];
    }
#endif
    return found;
  }

  InScratch<ExpectedClip<T>> m_expected;
};

/// Answers for the window as long as the ranks are expected ones. All threads of a team ask
/// together.
template <class T>
class ExpectedWindow {
 public:
  KOKKOS_FUNCTION explicit ExpectedWindow(ExpectedClip<T>& expected) : m_expected(expected) {}

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const { return m_expected->window; }
  /// Is not asked: nothing is expected of an image with values that are counted.
  [[nodiscard]] KOKKOS_FUNCTION static std::int64_t below(T) { return 0; }
  static constexpr bool may_not_know = true;
  /// The pixels of a rank, from 0, and of the same or the next one. False: they are not known.
  [[nodiscard]] KOKKOS_FUNCTION bool find(std::int64_t rank, std::int64_t next, T& first,
                                          T& second) const {
    const auto wanted = static_cast<std::uint32_t>(rank);
    const auto step = static_cast<std::uint32_t>(next - rank);
    const auto holds = [&](int i) {
      const ExpectedBounds<T>& bounds = m_expected->bounds;
      return (wanted >= bounds.first[i]) & (wanted + step < bounds.past[i]);
    };
    int at = 0;
#ifdef __CUDA_ARCH__
    const std::uint32_t some = lanes_where(holds(this_lane() % ExpectedBounds<T>::most));
    if (some == 0) return false;
    at = first_lane_of(some);
#else
    while (at < ExpectedBounds<T>::most && !holds(at)) ++at;
    if (at == ExpectedBounds<T>::most) return false;
#endif
    const T* const pixel = &m_expected->pixel[at][wanted - m_expected->bounds.first[at]];
    first = pixel[0];
    second = pixel[step];
    return true;
  }

 private:
  InScratch<ExpectedClip<T>> m_expected;
};

}  // namespace kastor::detail

#endif
