// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_TAIL_SUMS_HPP
#define KASTOR_SIGMA_CLIP_TAIL_SUMS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/fixed_point.hpp"

namespace kastor::detail {

/// The number of pixels of a tail, and the sums of their distances from the centre and of the
/// squares. Both are integers in units of 2^-44 of the octave's lower bound, or of its square. They
/// are kept as words that can be added in any order: the lower 32 bits of the terms, and the rest.
struct TailSums {
  enum Word { count, sum_low, sum_high, squares_low, squares_high, words };
  std::int64_t word[words] = {};

  KOKKOS_FUNCTION TailSums& operator+=(const TailSums& other) {
    for (int k = 0; k < words; ++k) word[k] += other.word[k];
    return *this;
  }
  KOKKOS_FUNCTION void add(std::int64_t distance, std::int64_t square) {
    word[count] += 1;
    word[sum_low] += distance & 0xffffffff;
    word[sum_high] += distance >> 32;
    word[squares_low] += square & 0xffffffff;
    word[squares_high] += square >> 32;
  }
  [[nodiscard]] KOKKOS_FUNCTION core::Int128 sum() const { return joined(sum_low, sum_high); }
  [[nodiscard]] KOKKOS_FUNCTION core::Int128 squares() const {
    return joined(squares_low, squares_high);
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION core::Int128 joined(Word low, Word high) const {
    return core::joined(static_cast<std::uint64_t>(word[low]),
                        static_cast<std::uint64_t>(word[high]));
  }
};

/// The contribution of a pixel to the sums of its octave.
template <class T>
class TailTerm {
 public:
  KOKKOS_FUNCTION TailTerm(double centre, int exponent)
      : m_centre(centre),
        m_scale(core::power_of_two(is_one_product ? -exponent : -exponent / 2)),
        m_scale_more(core::power_of_two(is_one_product ? 0 : -exponent - -exponent / 2)) {}

  KOKKOS_FUNCTION void add(T x, TailSums& sums) const {
    const double distance = Kokkos::fabs(static_cast<double>(x) - m_centre);
    const double u = distance * m_scale * m_scale_more;
    sums.add(core::unbias(core::to_grid_biased(u), 1),
             core::unbias(core::to_grid_biased(u * u), 1));
  }

 private:
  /// Whether the scale 2^-exponent is one double, since exponents of floats are small.
  static constexpr bool is_one_product = sizeof(T) == sizeof(float);
  double m_centre, m_scale, m_scale_more;
};

}  // namespace kastor::detail

#endif
