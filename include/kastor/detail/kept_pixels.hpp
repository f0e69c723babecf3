// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_KEPT_PIXELS_HPP
#define KASTOR_DETAIL_KEPT_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/measured_runs.hpp>

/// Pixels of the foreground with the background there: who marks them has evaluated the maps, which
/// takes longer than all that is measured of a pixel, and keeps them for the sweeps over islands.
namespace kastor::detail {

struct KeptPixel {
  double value, sky, noise;

  /// Of which the background is not known yet.
  [[nodiscard]] KOKKOS_FUNCTION static KeptPixel waiting(double value, std::int64_t y,
                                                         std::int64_t x) {
    return {value, Kokkos::bit_cast<double>(y), Kokkos::bit_cast<double>(x)};
  }
  /// Where it is, while it waits.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t y() const {
    return Kokkos::bit_cast<std::int64_t>(sky);
  }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t x() const {
    return Kokkos::bit_cast<std::int64_t>(noise);
  }
};

/// One place for every word of a mask. Words that are marked together share some: these hold the
/// pixels of a word behind one another, of islands of both signs, but for words whose pixels are
/// more than the places left.
struct KeptPixels {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  KeptPixel* places;
  std::int64_t capacity;
  std::uint32_t* first;  ///< place of a word's first pixel, or none; not set for words without any
  std::uint64_t* taken;  ///< devices: places that were asked for
  const std::uint64_t* kept;           ///< bits of a word's pixels that have places
  const std::uint64_t* negative_kept;  ///< and those of negative islands; null unless asked for
  std::int64_t words_per_row;
  std::uint64_t* taken_on_host = nullptr;  ///< where a device's host will look

  /// Free ones.
  struct Places {
    std::int64_t next, past;
  };
  /// Hosts: those of `count` words from this one on.
  [[nodiscard]] Places of_words(std::int64_t word, std::int64_t count) const {
    return up_to_capacity(word, count);
  }
  /// Devices: so many.
  [[nodiscard]] KOKKOS_FUNCTION Places take(std::uint32_t count) const {
    return granted(ask(count), count);
  }
  /// The same in two steps, between which there is time: the answer comes from far away.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t ask(std::uint32_t count) const {
    return Kokkos::atomic_fetch_add(taken, std::uint64_t{count});
  }
  [[nodiscard]] KOKKOS_FUNCTION Places granted(std::uint64_t next, std::uint32_t count) const {
    return up_to_capacity(static_cast<std::int64_t>(next), count);
  }

  /// That every place that was asked for could be had.
  [[nodiscard]] KOKKOS_FUNCTION Need need() const {
    return {taken, static_cast<std::uint64_t>(up_to_capacity(0, capacity).past)};
  }
  /// Then: those of a word, from pixel x of row y on.
  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel* from_pixel(std::int64_t y, std::int64_t x) const {
    return places + place_of(y, x);
  }
  /// The same where a word begins.
  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel* of_word(std::int64_t y, std::int64_t x) const {
    return places + first[y * words_per_row + x / 64];
  }
  /// Pixels of a run of the foreground of either sign; null unless all were kept.
  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel* of(const Run& run) const {
    const std::uint32_t begin = place_of(run.row, run.begin);
    if (begin == none) return nullptr;
    // Its pixels in other words: those that whoever marked them kept right behind these.
    const std::int64_t row = run.row * words_per_row;
    for (std::int64_t x = (run.begin / 64 + 1) * std::int64_t{64}; x < run.end; x += 64) {
      if (first[row + x / 64] != begin + static_cast<std::uint32_t>(x - run.begin)) return nullptr;
    }
    return places + begin;
  }
  /// A pixel of the foreground; null if it was not kept.
  [[nodiscard]] KOKKOS_FUNCTION const KeptPixel* at(std::int64_t y, std::int64_t x) const {
    const std::uint32_t place = place_of(y, x);
    return place == none ? nullptr : places + place;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION Places up_to_capacity(std::int64_t next, std::int64_t count) const {
    const std::int64_t most = capacity < none ? capacity : std::int64_t{none};
    return {next, next + count < most ? next + count : most};
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t place_of(std::int64_t y, std::int64_t x) const {
    const std::int64_t word = y * words_per_row + x / 64;
    const std::uint32_t of_word = first[word];
    if (of_word == none) return none;
    std::uint64_t pixels = kept[word];
    if (negative_kept != nullptr) pixels |= negative_kept[word];
    return of_word +
           static_cast<std::uint32_t>(ones_in(pixels & ((std::uint64_t{1} << x % 64) - 1)));
  }
};

}  // namespace kastor::detail

#endif
