// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_THRESHOLD_IMPL_HPP
#define KASTOR_DETAIL_THRESHOLD_IMPL_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/moments.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/threshold_device.hpp>
#include <kastor/detail/threshold_host.hpp>
#include <kastor/detail/work_shares.hpp>
#include <kastor/threshold.hpp>
#include <limits>

namespace kastor::detail {

/// Hosts: one thread fills the words of a stretch of a row.
template <class T>
struct FillStretch {
  static constexpr std::int64_t length = host_segment;  // whole words
  Rows<T> rows;
  Interval<T> foreground;
  std::uint64_t* words;
  std::int64_t words_per_row;
  std::int64_t per_row = (rows.nx + length - 1) / length;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / per_row;
    const std::int64_t x = (i % per_row) * length;
    const std::int64_t n = rows.nx - x < length ? rows.nx - x : length;
    KOKKOS_IF_ON_HOST(
        (threshold_on_host(best_host_level(), foreground.low, foreground.high,
                           rows.data + y * rows.pitch + x, n, words + y * words_per_row + x / 64);))
    KOKKOS_IF_ON_DEVICE(((void)y; (void)n;))
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
  std::uint64_t* const words = mask.words.data() + first_row * per_row;
  if constexpr (is_host_space_v<Exec>) {
    const detail::FillStretch<T> fill{rows, foreground, words, per_row};
    detail::for_each_index("kastor::threshold::fill_words", space, rows.ny * fill.per_row, fill);
  } else {
    using Fill = detail::ThresholdByWorkers<T>;
    const std::int64_t workers = Fill::workers_for(rows.ny * per_row, space.concurrency());
    Kokkos::parallel_for("kastor::threshold::fill_words",
                         detail::IndexRange<Exec>(space, 0, workers),
                         Fill{{rows, foreground, words, per_row}, workers});
  }
}

template <class Exec>
std::int64_t count_foreground(const Exec& space, const BitMask<Exec>& mask) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("kastor::threshold::count_bits",
                          detail::IndexRange<Exec>(space, 0, mask.ny * mask.words_per_row()),
                          detail::CountBits<Exec>{mask.words.data()}, count);
  return count;
}

}  // namespace kastor

#endif
