// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_MARK_HOST_HPP
#define KASTOR_DETAIL_MARK_HOST_HPP

#include <cstdint>
#include <kastor/detail/host_level.hpp>

/// The read of the image that finding islands needs, on a host. Knows nothing of Kokkos, so that it
/// is always compiled as plain C++, for several instruction sets.
namespace kastor::detail {

/// Within a patch of pixels: those that are not above `above` are not foreground, those not below
/// `below` not that of negative islands. `holds_no_blank`: level and rms can be used everywhere.
template <class T>
struct PatchLimits {
  T above;
  T below;
  bool holds_no_blank;
};

/// Overwrites ceil(n / 64) words of each mask: bit i % 64 of word i / 64 says whether pixel i is
/// finite, above the limit of its word, below the other limit; bits beyond n are 0. `below` may be
/// null.
template <class T>
void mark_on_host(HostLevel level, const PatchLimits<T>* limits, const T* pixels, std::int64_t n,
                  std::uint64_t* finite, std::uint64_t* above, std::uint64_t* below);

}  // namespace kastor::detail

#endif
