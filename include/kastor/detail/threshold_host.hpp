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

}  // namespace kastor::detail

#endif
