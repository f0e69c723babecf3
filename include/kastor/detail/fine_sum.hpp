// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_FINE_SUM_HPP
#define KASTOR_DETAIL_FINE_SUM_HPP

#include <cstdint>
#include <kastor/detail/fixed_point.hpp>

namespace kastor::detail {

/// A sum of terms |t| < 2^bits as integers of 2^(bits - 94), in three parts that cannot overflow
/// with fewer than 2^32 terms: second moments of a wide island with a sharp peak need so many bits.
struct FineSum {
  std::int64_t high;
  std::uint64_t middle;
  std::uint64_t low;

  [[nodiscard]] KOKKOS_FUNCTION static FineSum of(double term, int bits) {
    const double scaled = scale_by_power_of_two(term, 62 - bits);
    const double whole = floor_of(scaled);
    const auto q = static_cast<std::int64_t>(whole);
    return {q >> 32, static_cast<std::uint64_t>(q) & 0xffffffffU,
            static_cast<std::uint64_t>((scaled - whole) * 4294967296.0)};
  }
  KOKKOS_FUNCTION void join(const FineSum& other) {
    high += other.high;
    middle += other.middle;
    low += other.low;
  }
  template <class Adder>
  KOKKOS_FUNCTION void add_to(FineSum& total, const Adder& adder) const {
    adder.add(&total.high, high);
    adder.add(&total.middle, middle);
    adder.add(&total.low, low);
  }
  [[nodiscard]] KOKKOS_FUNCTION double total(int bits) const {
    Int128 sum;
    sum.high = high;
    sum += Int128{middle << 32, static_cast<std::int64_t>(middle >> 32)};
    sum += Int128{low, 0};
    return scale_by_power_of_two(sum.to_double(), bits - 94);
  }
};

}  // namespace kastor::detail

#endif
