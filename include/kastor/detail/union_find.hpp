// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNION_FIND_HPP
#define KASTOR_DETAIL_UNION_FIND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/relaxed.hpp>

namespace kastor::detail {

/// A forest over 0..n-1 for concurrent unions. A link always goes to a smaller index, so the root
/// of a set is its smallest member whatever the order of the unions. Concurrent path halving is
/// safe: it only ever replaces a parent by an ancestor (Jaiganesh and Burtscher, "A
/// high-performance connected components implementation for GPUs", HPDC 2018, section 3).
///
/// A parent that was read before others moved it is an ancestor still, and a node that is no root
/// any more may be linked to as well as its root: what decides is the exchange at the node that is
/// linked. So a device's threads read through their caches: where all look for one root, reads of
/// the shared cache would queue up for it. They write plainly too: an atomic store would be an
/// exchange, whose answer a thread waits for.
struct UnionFind {
  std::uint32_t* parent;

  [[nodiscard]] KOKKOS_FUNCTION static std::uint32_t load(std::uint32_t* at) {
    KOKKOS_IF_ON_DEVICE((return *at;))
    KOKKOS_IF_ON_HOST((return relaxed_load(at);))
  }
  /// An ancestor of a node that is no root.
  KOKKOS_FUNCTION static void store(std::uint32_t* at, std::uint32_t ancestor) {
    KOKKOS_IF_ON_DEVICE((*at = ancestor;))
    KOKKOS_IF_ON_HOST((relaxed_store(at, ancestor);))
  }

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t find(std::uint32_t i) const {
    std::uint32_t up = load(parent + i);
    while (up != i) {
      const std::uint32_t further = load(parent + up);
      if (further != up) store(parent + i, further);
      i = up;
      up = further;
    }
    return i;
  }

  /// Once all are united: writes nothing.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t root_of(std::uint32_t i) const {
    while (parent[i] != i) i = parent[i];
    return i;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool is_root(std::uint32_t i) const { return parent[i] == i; }

  /// For b < a. Where a is a root still, nobody looks for that of b.
  KOKKOS_FUNCTION void unite_with_smaller(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t seen = Kokkos::atomic_compare_exchange(parent + a, a, load(parent + b));
    if (seen != a) unite(seen, b);
  }

  KOKKOS_FUNCTION void unite(std::uint32_t a, std::uint32_t b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) {
        const std::uint32_t t = a;
        a = b;
        b = t;
      }
      const std::uint32_t seen = Kokkos::atomic_compare_exchange(parent + a, a, b);
      if (seen == a) return;
      // Somebody linked a first: go on from where it points now.
      a = find(seen);
      b = find(b);
    }
  }
};

}  // namespace kastor::detail

#endif
