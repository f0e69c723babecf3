// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SOURCE_FINDER_FOREGROUND_HPP
#define KASTOR_SOURCE_FINDER_FOREGROUND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>

#include "core/bits.hpp"
#include "core/interval.hpp"
#include "core/launch.hpp"
#include "core/word_rows.hpp"
#include "sigma_clip/replay.hpp"
#include "threshold/bits_within.hpp"

namespace kastor::detail {

/// Turns the candidates that the clip's read marked into the foreground. Compares the candidates
/// with the threshold, or all pixels if the threshold is below the level of the candidates. If the
/// clip has not succeeded, there is no foreground yet.
template <class Exec, class T>
struct MarkForeground {
  core::WordRows<T> rows;
  const ClipOutcome<T>* outcome;
  std::uint64_t* words;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    if (outcome->decided == 0) {
      words[w] = 0;
      return;
    }
    const core::Interval<T> foreground{outcome->foreground_above};
    if (outcome->candidates_hold == 0 || core::popcount(words[w]) > few) {
      words[w] = bits_within<Exec>(rows, w, foreground);
    } else if (words[w] != 0) {
      words[w] = of_candidates(rows.word(w).pixels, words[w], foreground);
    }
  }

 private:
  static constexpr int few = 8;  ///< at most this many candidates of a word are compared one by one

  [[nodiscard]] KOKKOS_FUNCTION static std::uint64_t of_candidates(
      const T* pixels, std::uint64_t bits, const core::Interval<T>& foreground) {
    for (std::uint64_t rest = bits; rest != 0; rest &= rest - 1)
      if (!foreground.contains(pixels[core::countr_zero(rest)])) bits &= ~(rest & (0 - rest));
    return bits;
  }
};

/// Enqueues this for all bands of an image.
template <class Exec, class T>
void mark_foreground(const Exec& space, Bands<T, Exec> bands, const ClipOutcome<T>* outcome,
                     const BitMask<Exec>& mask) {
  std::uint64_t* words = mask.words.data();
  for (const auto& band : bands) {
    const core::WordRows<T> rows(rows_of<T, Exec>(band));
    if (rows.words() == 0) continue;
    core::for_each("kastor::threshold::mark_foreground", space, rows.words(),
                   MarkForeground<Exec, T>{rows, outcome, words});
    words += rows.words();
  }
}

}  // namespace kastor::detail

#endif
