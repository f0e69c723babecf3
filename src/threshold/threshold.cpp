// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <kastor/detail/instantiations.hpp>
#include <kastor/threshold.hpp>
#include <limits>
#include <string>

#include "core/bits.hpp"
#include "core/launch.hpp"
#include "threshold/bits_within.hpp"

namespace kastor::detail {

template <class Exec, class T>
struct FillWords {
  core::WordRows<T> rows;
  core::Interval<T> foreground;
  std::uint64_t* words;

  KOKKOS_FUNCTION void operator()(std::int64_t w) const {
    words[w] = bits_within<Exec>(rows, w, foreground);
  }
};

struct CountBits {
  using value_type = std::int64_t;
  const std::uint64_t* words;
  KOKKOS_FUNCTION void operator()(std::int64_t w, std::int64_t& count) const {
    count += core::popcount(words[w]);
  }
};

}  // namespace kastor::detail

namespace kastor {

template <class Exec>
BitMask<Exec> make_bit_mask(const Exec& space, std::int64_t ny, std::int64_t nx) {
  KASTOR_EXPECTS("kastor::make_bit_mask", ny >= 0 && nx >= 0,
                 "the shape is " + std::to_string(ny) + " x " + std::to_string(nx) +
                     "; expected no negative extents");
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
  const core::WordRows<T> rows(detail::rows_of<T, Exec>(image));
  KASTOR_EXPECTS("kastor::threshold", !std::isnan(level), "the level is NaN; expected a number");
  KASTOR_EXPECTS(
      "kastor::threshold", rows.nx == mask.nx && first_row >= 0 && first_row + rows.ny <= mask.ny,
      "rows " + std::to_string(first_row) + " to " + std::to_string(first_row + rows.ny) + " of " +
          std::to_string(rows.nx) + " pixels do not fit the mask; expected rows of one of " +
          std::to_string(mask.ny) + " x " + std::to_string(mask.nx) + " pixels");
  if (rows.words() == 0) return;
  const auto foreground = core::interval_between<T>(level, std::numeric_limits<double>::infinity());
  core::for_each("kastor::threshold::fill_words", space, rows.words(),
                 detail::FillWords<Exec, T>{rows, foreground,
                                            mask.words.data() + first_row * mask.words_per_row()});
}

template <class Exec>
std::int64_t count_foreground(const Exec& space, const BitMask<Exec>& mask) {
  return core::reduce("kastor::threshold::count_bits", space, mask.ny * mask.words_per_row(),
                      detail::CountBits{mask.words.data()});
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                              \
  template void kastor::threshold_into<EXEC, T>(const EXEC&, const kastor::ConstImage<T, EXEC>&, \
                                                double, const kastor::BitMask<EXEC>&,            \
                                                std::int64_t);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
#undef KASTOR_INSTANTIATE

#define KASTOR_INSTANTIATE(EXEC)                                                        \
  template kastor::BitMask<EXEC> kastor::make_bit_mask<EXEC>(const EXEC&, std::int64_t, \
                                                             std::int64_t);             \
  template std::int64_t kastor::count_foreground<EXEC>(const EXEC&, const kastor::BitMask<EXEC>&);
KASTOR_FOR_EACH_EXEC(KASTOR_INSTANTIATE)
