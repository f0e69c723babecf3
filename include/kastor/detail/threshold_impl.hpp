// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_THRESHOLD_IMPL_HPP
#define KASTOR_DETAIL_THRESHOLD_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstring>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/pack_bits.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/threshold.hpp>
#include <limits>

namespace kastor::detail {

/// One thread fills one word from 64 pixels.
template <class T, class Exec>
struct FillWord {
  Rows<T> rows;
  Interval<T> foreground;
  std::uint64_t* words;
  std::int64_t words_per_row;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    const std::int64_t y = w / words_per_row;
    const std::int64_t x = (w % words_per_row) * 64;
    const T* pixels = rows.data + y * rows.pitch + x;
    const std::int64_t n = rows.nx - x;
    std::uint64_t word = 0;
    if (is_host_space_v<Exec> && n >= 64) {
      word = pack_bits(pixels, [this](T pixel) { return foreground.contains(pixel); });
    } else if (n >= 64 && reinterpret_cast<std::uintptr_t>(pixels) % 16 == 0) {
      constexpr int pack = PixelPack<T>::size;
      KASTOR_UNROLL
      for (int p = 0; p < 64 / pack; ++p) {
        const auto loaded = reinterpret_cast<const PixelPack<T>*>(pixels)[p];
        KASTOR_UNROLL
        for (int c = 0; c < pack; ++c) {
          word |= static_cast<std::uint64_t>(foreground.contains(loaded.pixel[c]))
                  << (p * pack + c);
        }
      }
    } else {
      for (int i = 0; i < (n < 64 ? static_cast<int>(n) : 64); ++i) {
        word |= static_cast<std::uint64_t>(foreground.contains(pixels[i])) << i;
      }
    }
    words[w] = word;
  }
};

template <class Exec>
struct CountBits {
  const std::uint64_t* words;
  KOKKOS_FUNCTION void operator()(std::int64_t w, std::int64_t& count) const {
    count += Kokkos::Experimental::popcount_builtin(words[w]);
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec>
BitMask<Exec> make_bit_mask(const Exec& space, std::int64_t ny, std::int64_t nx) {
  KASTOR_EXPECTS("kastor::make_bit_mask", ny >= 0 && nx >= 0,
                 "the shape is " + std::to_string(ny) + " x " + std::to_string(nx) +
                     "; expected no negative extent");
  BitMask<Exec> mask;
  mask.ny = ny;
  mask.nx = nx;
  mask.words = decltype(mask.words)(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::threshold::mask"),
      static_cast<std::size_t>(ny), static_cast<std::size_t>(mask.words_per_row()));
  return mask;
}

template <class Exec, Real T>
void threshold_into(const Exec& space, const ConstImage<T, Exec>& image, double level,
                    const BitMask<Exec>& mask, std::int64_t first_row) {
  const auto rows = detail::rows_of<T, Exec>(image);
  KASTOR_EXPECTS("kastor::threshold", !std::isnan(level), "the level is NaN; expected a number");
  KASTOR_EXPECTS(
      "kastor::threshold", rows.nx == mask.nx && first_row >= 0 && first_row + rows.ny <= mask.ny,
      "rows " + std::to_string(first_row) + " to " + std::to_string(first_row + rows.ny) + " of " +
          std::to_string(rows.nx) + " pixels do not fit the mask of " + std::to_string(mask.ny) +
          " x " + std::to_string(mask.nx));
  const std::int64_t per_row = mask.words_per_row();
  if (rows.ny * per_row == 0) return;
  const detail::Interval<T> foreground =
      detail::interval_between<T>(level, std::numeric_limits<double>::infinity());
  Kokkos::parallel_for(
      "kastor::threshold::fill_words",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, rows.ny * per_row),
      detail::FillWord<T, Exec>{rows, foreground, mask.words.data() + first_row * per_row,
                                per_row});
}

template <class Exec>
std::int64_t count_foreground(const Exec& space, const BitMask<Exec>& mask) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("kastor::threshold::count_bits",
                          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                              space, 0, mask.ny * mask.words_per_row()),
                          detail::CountBits<Exec>{mask.words.data()}, count);
  return count;
}

}  // namespace kastor

#endif
