// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNION_FIND_HPP
#define KASTOR_DETAIL_UNION_FIND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>
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

  /// From each node to its root; of several nodes the next steps are under way at once.
  template <int N>
  KOKKOS_FUNCTION void find_all(std::uint32_t (&node)[N]) const {
    std::uint32_t up[N];
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) up[k] = load(parent + node[k]);
    bool are_roots = false;
    while (!are_roots) {
      are_roots = true;
      std::uint32_t further[N];
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) further[k] = load(parent + up[k]);
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) {
        if (further[k] == up[k]) continue;
        are_roots = false;
        store(parent + node[k], further[k]);
        node[k] = up[k];
        up[k] = further[k];
      }
    }
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) node[k] = up[k];
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

  /// Goes up on both sides at once, until the paths meet or both are at their roots.
  KOKKOS_FUNCTION void unite(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t up_a = load(parent + a);
    std::uint32_t up_b = load(parent + b);
    while (up_a != up_b) {
      if (up_a != a || up_b != b) {
        const std::uint32_t further_a = load(parent + up_a);
        const std::uint32_t further_b = load(parent + up_b);
        if (further_a != up_a) store(parent + a, further_a);
        if (further_b != up_b) store(parent + b, further_b);
        a = up_a;
        b = up_b;
        up_a = further_a;
        up_b = further_b;
        continue;
      }
      if (a < b) {
        Kokkos::kokkos_swap(a, b);
        Kokkos::kokkos_swap(up_a, up_b);
      }
      // Where somebody linked it first: on from where it points now.
      up_a = Kokkos::atomic_compare_exchange(parent + a, a, b);
      if (up_a == a) return;
    }
  }
};

}  // namespace kastor::detail

#endif
