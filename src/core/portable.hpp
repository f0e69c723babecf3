// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_PORTABLE_HPP
#define KASTOR_CORE_PORTABLE_HPP

#include <Kokkos_Core.hpp>

/// Differences between CPU and device are handled in this folder. Every primitive has one portable
/// form, and at most one special form for CUDA or for a group of one thread.
namespace kastor::core {

/// Whether the portable forms are used on every backend (KASTOR_PORTABLE).
#ifdef KASTOR_PORTABLE
inline constexpr bool portable = true;
#else
inline constexpr bool portable = false;
#endif

/// Whether the host can access the memory of `Exec` directly.
template <class Exec>
inline constexpr bool runs_on_host_v =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

/// The memory space that kernels of `Exec` write and the host reads after a fence, without a copy.
template <class Exec>
using HostReadableSpace = std::conditional_t<runs_on_host_v<Exec>, typename Exec::memory_space,
                                             Kokkos::SharedHostPinnedSpace>;

}  // namespace kastor::core

#endif
