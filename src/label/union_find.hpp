// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_UNION_FIND_HPP
#define KASTOR_LABEL_UNION_FIND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/intrinsics.hpp"

namespace kastor::detail {

/// A forest over 0..n-1 for concurrent unions. A link always points to a smaller index, so the root
/// of a set is its smallest member, in whatever order sets are united. Concurrent path halving is
/// safe, because it only replaces a parent by an ancestor (Jaiganesh and Burtscher, "A
/// high-performance connected components implementation for GPUs", HPDC 2018, section 3). A parent
/// that was read before another thread moved it is still an ancestor. The atomic exchange at the
/// node that is linked decides.
struct UnionFind {
  std::uint32_t* parent;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t find(std::uint32_t i) const {
    std::uint32_t up = core::relaxed_load(parent + i);
    while (up != i) {
      const std::uint32_t further = core::relaxed_load(parent + up);
      if (further != up) core::relaxed_store(parent + i, further);
      i = up;
      up = further;
    }
    return i;
  }

  /// For b < a only. As a rule, a run is still a root when it is united with the first run above
  /// it, and has the same parent as the others. Then no root has to be searched.
  KOKKOS_FUNCTION void unite(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t up_a = core::relaxed_load(parent + a);
    const std::uint32_t up_b = core::relaxed_load(parent + b);
    if (up_a == up_b) return;
    if (up_a == a && Kokkos::atomic_compare_exchange(parent + a, a, up_b) == a) return;
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) Kokkos::kokkos_swap(a, b);
      const std::uint32_t seen = Kokkos::atomic_compare_exchange(parent + a, a, b);
      if (seen == a) return;
      // Another thread linked a first: go on from where it points now.
      a = find(seen);
      b = find(b);
    }
  }
};

}  // namespace kastor::detail

#endif
