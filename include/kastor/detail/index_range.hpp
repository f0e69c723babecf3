// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_INDEX_RANGE_HPP
#define KASTOR_DETAIL_INDEX_RANGE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>
#include <type_traits>

namespace kastor::detail {

/// The indices of a kernel. Each thread of a host begins with some next to each other, and takes
/// others' when it is done with its own: cores are not equally fast where they are shared, by
/// hyperthreads or by other programs.
template <class Exec>
using IndexRange = std::conditional_t<
    is_host_space_v<Exec>,
    Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>,
    Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>>;

}  // namespace kastor::detail

#endif
