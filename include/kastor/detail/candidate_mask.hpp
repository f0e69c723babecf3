// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CANDIDATE_MASK_HPP
#define KASTOR_DETAIL_CANDIDATE_MASK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/mask_lines.hpp>

namespace kastor::detail {

/// A pixel above the candidate level, and where it lies.
template <class T>
struct Candidate {
  std::uint64_t pixel;  ///< y * nx + x
  T value;
};

/// Devices: the bits of a mask that many threads set, and the lines that they touch.
struct CandidateMask {
  std::uint64_t nx = 0;
  std::uint64_t words_per_row = 0;
  std::uint64_t* words = nullptr;  ///< null: no mask is wanted
  MaskLines lines = {};

  /// Pixels of fewer, and their rows, have numbers that are quickly divided.
  static constexpr std::int64_t too_many_pixels = std::int64_t{1} << 32;
  /// Sets the bit of pixel y * nx + x of an image with fewer.
  KOKKOS_FUNCTION void set(std::uint32_t pixel) const {
    const auto width = static_cast<std::uint32_t>(nx);
    const std::uint32_t y = pixel / width;
    const std::uint32_t x = pixel - y * width;
    const std::uint64_t word = y * words_per_row + x / 64;
    set_bits(word, std::uint64_t{1} << (x % 64));
  }

  /// Sets the bits of those of n candidates that are above a level. All threads of a team must call
  /// it.
  template <class Crew, class T>
  KOKKOS_FUNCTION void set_above(const Crew& crew, T level, const Candidate<T>* some,
                                 std::int64_t n) const {
    const std::int64_t step = crew.size();
    if (n <= step) {  // as a rule, and soon done
      if (crew.rank() >= n) return;
      const Candidate<T> mine = some[crew.rank()];
      const Place place = place_of(mine.pixel);
      if (mine.value > level) set_bits(place.word, place.bit);
      return;
    }
    constexpr int at_once = 4;
    const int lane = crew.rank() % lanes;
    for (std::int64_t i = crew.rank(); i - lane < n; i += at_once * step) {
      Candidate<T> loaded[at_once];
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k)
        loaded[k] = i + k * step < n ? some[i + k * step] : Candidate<T>{0, level};
      KASTOR_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const Place place = place_of(loaded[k].pixel);
        set_together(place.word, loaded[k].value > level ? place.bit : 0, lane);
      }
    }
  }

 private:
  struct Place {
    std::uint64_t word, bit;
  };
  /// Of pixel y * nx + x. Numbers of 64 bits take a device a hundred instructions to divide.
  [[nodiscard]] KOKKOS_FUNCTION Place place_of(std::uint64_t pixel) const {
    std::uint64_t y = 0, x = 0;
    if ((pixel | nx) >> 32 == 0) {
      const auto narrow = static_cast<std::uint32_t>(pixel);
      const auto width = static_cast<std::uint32_t>(nx);
      y = narrow / width;
      x = narrow % width;
    } else {
      y = pixel / nx;
      x = pixel % nx;
    }
    return {y * words_per_row + x / 64, std::uint64_t{1} << (x % 64)};
  }

  /// Sets bits of a word, or none. Candidates side by side in the list are pixels side by side, as
  /// a rule: the first of some lanes that have bits of one word sets them all.
  KOKKOS_FUNCTION void set_together(std::uint64_t word, std::uint64_t bits,
                                    [[maybe_unused]] int lane) const {
    bool is_set_by_other = false;
#ifdef __CUDA_ARCH__
    constexpr int together = 8;
    const int place = lane % together;
    KASTOR_UNROLL
    for (int step = 1; step < together; step *= 2) {
      const std::uint64_t word_above = value_from_above(word, step);
      const std::uint64_t bits_above = value_from_above(bits, step);
      if (place + step < together && word_above == word) bits |= bits_above;
    }
    const std::uint64_t word_below = __shfl_up_sync(~0U, word, 1);
    is_set_by_other = place > 0 && word_below == word;
#endif
    if (bits != 0 && !is_set_by_other) set_bits(word, bits);
  }
  KOKKOS_FUNCTION void set_bits(std::uint64_t word, std::uint64_t bits) const {
    Kokkos::atomic_or(&words[word], bits);
    lines.touched[word / MaskLines::words] = 1;  // as all others who write it
  }
};

}  // namespace kastor::detail

#endif
