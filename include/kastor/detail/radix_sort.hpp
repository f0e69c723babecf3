// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_RADIX_SORT_HPP
#define KASTOR_DETAIL_RADIX_SORT_HPP

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace kastor::detail {

/// Unsigned integers in the order of the numbers: -0 comes before 0.
template <class T>
[[nodiscard]] constexpr auto sort_key(T x) {
  using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const auto bits = std::bit_cast<Key>(x);
  const Key sign = Key{1} << (8 * sizeof(T) - 1);
  return static_cast<Key>((bits & sign) != 0 ? ~bits : bits | sign);
}

/// Sorts finite numbers on a host, ascending, 11 bits at a time; several times as fast as
/// comparisons for a few 10^4 of them. `spare` is work space.
template <class T>
void radix_sort(std::vector<T>& values, std::vector<T>& spare) {
  constexpr int digit_bits = 11;
  constexpr std::size_t digits = std::size_t{1} << digit_bits;
  spare.resize(values.size());
  for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); shift += digit_bits) {
    const auto digit = [shift](T x) {
      return static_cast<std::size_t>(sort_key(x) >> shift) & (digits - 1);
    };
    std::array<std::uint32_t, digits> next{};
    for (const T x : values) ++next[digit(x)];
    std::uint32_t before = 0;
    for (std::uint32_t& n : next) before += std::exchange(n, before);
    for (const T x : values) spare[next[digit(x)]++] = x;
    values.swap(spare);
  }
}

}  // namespace kastor::detail

#endif
