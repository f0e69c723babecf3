// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BIN_REHEARSAL_HPP
#define KASTOR_DETAIL_BIN_REHEARSAL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/by_side.hpp>
#include <kastor/detail/clip_outline.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/gathered_bins.hpp>
#include <kastor/detail/rough_clip.hpp>

namespace kastor::detail {

/// Which bins the passes of a clip will look in, where limits and medians cannot be foreseen any
/// better. Those of the tails and those of the window are counted as they come; a team asks for
/// one.
template <class T, class Crew>
class BinRehearsal : RoughClip<T, Crew> {
  using Rough = RoughClip<T, Crew>;
  using typename Rough::Pass;
  using typename Rough::Place;

 public:
  static constexpr int sides = Rough::sides;

  /// \param of_tails, of_window Which of the bins of one kind is asked for; -1: none.
  KOKKOS_FUNCTION BinRehearsal(const Rough& clip, int of_tails, int of_window)
      : Rough(clip), m_tails_kind{of_tails}, m_window_kind{of_window} {}

  /// The bin, as RefinedBins has it; -1: they are fewer. All must call it.
  [[nodiscard]] KOKKOS_FUNCTION int operator()(double kappa, int max_passes) {
    const auto factor = static_cast<float>(kappa);
    float limits[sides] = {Kokkos::Experimental::infinity_v<float>,
                           Kokkos::Experimental::infinity_v<float>};
    float last_place = -1;
    bool goes_on = true;
    const int end = Rough::end_of_passes(max_passes);
    Pass now;
    KASTOR_KEEP_LOOP
    for (int pass = 0; goes_on && pass < end; ++pass) {
      if (!Rough::template look<true>(limits, factor, now)) break;
      constexpr int bins_of_step = GatheredBins<T>::window / ClipOutline::window_steps;
      const float place = now.place * bins_of_step;
      goes_on = note(m_window_kind, m_in_window, 0, place, last_place - place);
      last_place = place;
      KASTOR_UNROLL
      for (int side = 0; side < sides; ++side) {
        const float before = of_side(side, limits);
        const float next = Rough::limit_after(side, before, now);
        if (!Rough::is_limit(side, next)) return found();
        (side == 0 ? limits[0] : limits[1]) = next;
        const int octave = Rough::octave_of(next);
        if (octave >= this->m_tails.used(side)) continue;
        if (octave >= TailOctaves::fine) {
          goes_on = true;
          continue;
        }
        const Place at = Rough::place_of(next);
        const float bin = ClipOutline::step * (static_cast<float>(at.step) + at.share);
        goes_on |= note(m_tails_kind, m_in_tail[side], side * TailOctaves::bins, bin,
                        (before - next) / at.bin_width);
      }
      goes_on &= found() < 0;
    }
    return found();
  }

 private:
  /// Bins of the tails, or of the window.
  struct Kind {
    int wanted;  ///< which of them
    int count = 0;
    int found = -1;
  };
  /// The last ones, so that few are counted twice.
  struct Last {
    int bin = -1, before = -1;
  };

  [[nodiscard]] KOKKOS_FUNCTION int found() const {
    return m_tails_kind.found >= 0 ? m_tails_kind.found : m_window_kind.found;
  }

  /// Counts the bin in which a place lies, and the next one if that is near. \return whether later
  /// passes may look elsewhere: each of them moves little more than half as far.
  [[nodiscard]] KOKKOS_FUNCTION static bool note(Kind& kind, Last& last, int first, float place,
                                                 float moved) {
    constexpr float near = 0.08F;
    constexpr float yet_to_go = 4;
    const int bin = static_cast<int>(place);
    const float share = place - static_cast<float>(bin);
    count(kind, last, first, bin);
    if (share < near && bin > 0) count(kind, last, first, bin - 1);
    if (share > 1 - near) count(kind, last, first, bin + 1);
    const float rest = yet_to_go * Kokkos::fabs(moved);
    return !(rest < share && rest < 1 - share);
  }
  KOKKOS_FUNCTION static void count(Kind& kind, Last& last, int first, int bin) {
    if (bin == last.bin || bin == last.before) return;
    last = {bin, last.bin};
    if (kind.count == kind.wanted) kind.found = first + bin;
    ++kind.count;
  }

  Kind m_tails_kind, m_window_kind;
  Last m_in_tail[sides], m_in_window;
};

}  // namespace kastor::detail

#endif
