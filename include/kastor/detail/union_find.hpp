// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_UNION_FIND_HPP
#define KASTOR_DETAIL_UNION_FIND_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/relaxed.hpp>
#include <kastor/detail/team_scratch.hpp>

namespace kastor::detail {

/// Parents in any memory, one after the other.
struct ParentList {
  std::uint32_t* first;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t load(std::uint32_t i) const {
    std::uint32_t* const at = first + i;
    KOKKOS_IF_ON_DEVICE((return *at;))
    KOKKOS_IF_ON_HOST((return relaxed_load(at);))
  }
  /// An ancestor of a node that is no root.
  KOKKOS_FUNCTION void store(std::uint32_t i, std::uint32_t ancestor) const {
    std::uint32_t* const at = first + i;
    KOKKOS_IF_ON_DEVICE((*at = ancestor;))
    KOKKOS_IF_ON_HOST((relaxed_store(at, ancestor);))
  }
  /// Links a root, unless it has become none. \return what was there: the root, or its parent.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t link(std::uint32_t root, std::uint32_t to) const {
    return Kokkos::atomic_compare_exchange(first + root, root, to);
  }
};

/// The same in the scratch memory of a team, as a device's compiler shall know: `Space::parent`.
template <class Space>
struct ParentsInScratch {
  InScratch<Space> space;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t load(std::uint32_t i) const {
    std::uint32_t* const at = space->parent + i;
    KOKKOS_IF_ON_DEVICE((return *at;))
    KOKKOS_IF_ON_HOST((return relaxed_load(at);))
  }
  KOKKOS_FUNCTION void store(std::uint32_t i, std::uint32_t ancestor) const {
    std::uint32_t* const at = space->parent + i;
    KOKKOS_IF_ON_DEVICE((*at = ancestor;))
    KOKKOS_IF_ON_HOST((relaxed_store(at, ancestor);))
  }
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t link(std::uint32_t root, std::uint32_t to) const {
    std::uint32_t* const at = space->parent + root;
#ifdef __CUDA_ARCH__
    return atomicCAS(at, root, to);
#else
    return Kokkos::atomic_compare_exchange(at, root, to);
#endif
  }
};

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
template <class Parents>
struct Forest {
  Parents parents;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t find(std::uint32_t i) const {
    std::uint32_t up = parents.load(i);
    while (up != i) {
      const std::uint32_t further = parents.load(up);
      if (further != up) parents.store(i, further);
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
    for (int k = 0; k < N; ++k) up[k] = parents.load(node[k]);
    bool are_roots = false;
    while (!are_roots) {
      are_roots = true;
      std::uint32_t further[N];
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) further[k] = parents.load(up[k]);
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) {
        if (further[k] == up[k]) continue;
        are_roots = false;
        parents.store(node[k], further[k]);
        node[k] = up[k];
        up[k] = further[k];
      }
    }
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) node[k] = up[k];
  }

  /// Once all are united: writes nothing.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t root_of(std::uint32_t i) const {
    while (parents.load(i) != i) i = parents.load(i);
    return i;
  }

  [[nodiscard]] KOKKOS_FUNCTION bool is_root(std::uint32_t i) const { return parents.load(i) == i; }

  /// For b < a. Where a is a root still, nobody looks for that of b.
  KOKKOS_FUNCTION void unite_with_smaller(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t seen = parents.link(a, parents.load(b));
    if (seen != a) unite(seen, b);
  }

  KOKKOS_FUNCTION void unite(std::uint32_t a, std::uint32_t b) const {
    a = find(a);
    b = find(b);
    while (a != b) {
      if (a < b) Kokkos::kokkos_swap(a, b);
      const std::uint32_t seen = parents.link(a, b);
      if (seen == a) return;
      // Somebody linked a first: go on from where it points now.
      a = find(seen);
      b = find(b);
    }
  }
};

using UnionFind = Forest<ParentList>;

}  // namespace kastor::detail

#endif
