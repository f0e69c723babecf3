// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_INDEX_RANGE_HPP
#define KASTOR_DETAIL_INDEX_RANGE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace kastor::detail {

/// The indices of a kernel.
template <class Exec>
using IndexRange = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

}  // namespace kastor::detail

#endif
