// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_THRESHOLD_DEVICE_HPP
#define KASTOR_DETAIL_THRESHOLD_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/image.hpp>

namespace kastor::detail {

/// Devices: the words of a mask from the pixels. On CUDA the lanes of a warp look at neighbouring
/// pixels, each word by two votes: a lane that read 64 pixels for itself would ask for a line of
/// memory of its own with every load.
template <class T>
struct ThresholdWords {
  Rows<T> rows;
  Interval<T> foreground;
  std::uint64_t* words;
  std::int64_t words_per_row;

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return rows.ny * words_per_row; }

  /// Writes the share of a worker and calls `done(word)` for each of its words. A warp's lanes are
  /// consecutive workers from a multiple of 32 on, and call it together.
  template <class Done>
  KOKKOS_FUNCTION void fill(std::int64_t worker, std::int64_t workers, const Done& done) const {
    const std::int64_t lane = worker % lanes;
    for (std::int64_t w = worker; w - lane < count(); w += workers) {
      const std::uint64_t word = word_at(w, w - lane);
      if (w >= count()) continue;
      words[w] = word;
      done(w);
    }
  }

 private:
#ifdef __CUDA_ARCH__
  /// Words whose pixels are under way at once: of each word a lane has two in registers.
  static constexpr int batch = 32 / static_cast<int>(sizeof(T));

  /// That of this lane, where the warp's first one is word `first`.
  [[nodiscard]] __device__ std::uint64_t word_at(std::int64_t, std::int64_t first) const {
    const int lane = this_lane();
    const std::int64_t y = first / words_per_row;
    const std::int64_t x = (first - y * words_per_row) * 64;
    const T* pixels = rows.data + y * rows.pitch + x + lane;
    std::int64_t left = rows.nx - x - lane;  // pixels of the row from this one on
    const std::int64_t to_next_row = rows.pitch - (words_per_row - 1) * 64;
    std::uint64_t mine = 0;
    KASTOR_KEEP_LOOP
    for (int k = 0; k < lanes; k += batch) {
      T loaded[batch][2];
      KASTOR_UNROLL
      for (int b = 0; b < batch; ++b) {
        const bool is_word = first + k + b < count();
        loaded[b][0] = is_word && left > 0 ? pixels[0] : foreground.low;
        loaded[b][1] = is_word && left > lanes ? pixels[lanes] : foreground.low;
        const bool is_last_of_row = left + lane <= 64;
        pixels += is_last_of_row ? to_next_row : 64;
        left = is_last_of_row ? rows.nx - lane : left - 64;
      }
      KASTOR_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::uint32_t low = lanes_where(foreground.contains(loaded[b][0]));
        const std::uint32_t high = lanes_where(foreground.contains(loaded[b][1]));
        if (lane == k + b) mine = low | std::uint64_t{high} << lanes;
      }
    }
    return mine;
  }
#else
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t word_at(std::int64_t w, std::int64_t) const {
    if (w >= count()) return 0;
    const std::int64_t y = w / words_per_row;
    const std::int64_t x = (w % words_per_row) * 64;
    std::uint64_t word = 0;
    visit_word(rows.data + y * rows.pitch + x, rows.nx - x, [&](T pixel, int k) {
      word |= static_cast<std::uint64_t>(foreground.contains(pixel)) << k;
    });
    return word;
  }
#endif
};

/// The same as a kernel of its own.
template <class T>
struct ThresholdByWorkers {
  ThresholdWords<T> words;
  std::int64_t workers;

  /// No more than there are words for, but for whole warps.
  [[nodiscard]] static std::int64_t workers_for(std::int64_t count, std::int64_t concurrency) {
    const std::int64_t most = count < concurrency ? count : concurrency;
    return (most + lanes - 1) / lanes * lanes;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t worker) const {
    words.fill(worker, workers, [](std::int64_t) {});
  }
};

}  // namespace kastor::detail

#endif
