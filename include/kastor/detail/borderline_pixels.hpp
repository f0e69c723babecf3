// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BORDERLINE_PIXELS_HPP
#define KASTOR_DETAIL_BORDERLINE_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/bits.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/relaxed.hpp>
#include <kastor/detail/threshold_host.hpp>

/// A host marks the foreground while it reads, before the level is known: nearly all pixels are
/// certainly above it or below. The others are kept, so that the image is not looked at again.
namespace kastor::detail {

/// A pixel whose bit is set and may have to be cleared.
template <class T>
struct BorderlinePixel {
  std::uint64_t* word;
  int bit;
  T value;
};

/// In no order. `count` may exceed the capacity: then some were lost.
template <class T>
struct BorderlinePixels {
  static constexpr int most_words = 128;  ///< of a stretch

  BorderlinePixel<T>* list;
  std::int64_t capacity;
  std::int64_t* count;
  bool alone;  ///< one thread

  [[nodiscard]] bool is_full() const { return relaxed_load(count) > capacity; }
  /// Those of a stretch of n pixels that are marked in its words, which are those of the mask at
  /// `in_mask`, and not above `certain`.
  void append(const T* pixels, std::int64_t n, const std::uint64_t* words, std::uint64_t* in_mask,
              T certain) const {
    MarkedBits found[most_words];
    const std::int64_t some =
        find_not_above_on_host(best_host_level(), certain, pixels, n, words, found);
    for (std::int64_t i = 0; i < some; ++i)
      append(pixels + 64 * found[i].word, in_mask + found[i].word, found[i].bits);
  }

 private:
  void append(const T* pixels, std::uint64_t* word, std::uint64_t bits) const {
    const auto n = static_cast<std::int64_t>(ones_in(bits));
    std::int64_t at = claim_places(count, n, alone);
    if (at + n > capacity) return;
    for (; bits != 0; bits &= bits - 1) {
      const int bit = lowest_one(bits);
      list[at++] = {word, bit, pixels[bit]};
    }
  }
};

/// Clears the bits of those that are not above the level.
template <class T>
struct ClearBorderline {
  const BorderlinePixel<T>* list;
  T above;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const BorderlinePixel<T>& pixel = list[i];
    if (!(pixel.value > above)) Kokkos::atomic_and(pixel.word, ~(std::uint64_t{1} << pixel.bit));
  }
};

}  // namespace kastor::detail

#endif
