// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_THRESHOLD_HOST_HPP
#define KASTOR_DETAIL_THRESHOLD_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// Thresholds on a host. Knows nothing of Kokkos, so that it is always compiled as plain C++, for
/// several instruction sets.
namespace kastor::detail {

/// Overwrites ceil(n / 64) words: bit i % 64 of word i / 64 says whether low < pixels[i] < high,
/// bits beyond n are 0.
template <class T>
void threshold_on_host(HostLevel level, T low, T high, const T* pixels, std::int64_t n,
                       std::uint64_t* words);

/// Bits of a word of some.
struct MarkedBits {
  std::int64_t word;
  std::uint64_t bits;
};

/// Of the pixels whose bits are set in ceil(n / 64) words, those that are not above a bound, word
/// by word, in order. `found`: room for all words. Returns how many words have any.
template <class T>
[[nodiscard]] std::int64_t find_not_above_on_host(HostLevel level, T bound, const T* pixels,
                                                  std::int64_t n, const std::uint64_t* words,
                                                  MarkedBits* found);

}  // namespace kastor::detail

#endif
