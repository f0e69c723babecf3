// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_MERGE_SORT_HPP
#define KASTOR_CORE_MERGE_SORT_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "core/launch.hpp"

/// A sort by flat kernels: blocks by insertion, then passes that merge neighbours. Each index makes
/// one tile of the output, after a search for where the tile begins in both inputs (merge path:
/// Green, McColl and Bader, ICS 2012).
namespace kastor::core {

namespace impl {

constexpr std::int64_t sort_tile = 32;

template <class V, class Before>
struct SortTile {
  V* list;
  std::int64_t n;
  Before before;

  KOKKOS_FUNCTION void operator()(std::int64_t tile) const {
    const std::int64_t first = tile * sort_tile;
    const std::int64_t past = first + sort_tile < n ? first + sort_tile : n;
    for (std::int64_t i = first + 1; i < past; ++i) {
      const V moved = list[i];
      std::int64_t at = i;
      for (; at > first && before(moved, list[at - 1]); --at) list[at] = list[at - 1];
      list[at] = moved;
    }
  }
};

template <class V, class Before>
struct MergeTile {
  const V* from;
  V* to;
  std::int64_t n, width;  ///< sorted parts of `from` are so wide
  Before before;

  KOKKOS_FUNCTION void operator()(std::int64_t tile) const {
    const std::int64_t at = tile * sort_tile;
    const std::int64_t first = at / (2 * width) * (2 * width);
    const std::int64_t middle = first + width < n ? first + width : n;
    const std::int64_t past = middle + width < n ? middle + width : n;
    const V *const a = from + first, *const b = from + middle;
    const std::int64_t n_a = middle - first, n_b = past - middle;
    const std::int64_t done = at - first;  // elements of both parts that come before the tile
    std::int64_t i = done > n_b ? done - n_b : 0;
    for (std::int64_t most = done < n_a ? done : n_a; i < most;) {
      const std::int64_t half = (i + most) / 2;
      if (before(b[done - 1 - half], a[half])) {
        most = half;
      } else {
        i = half + 1;
      }
    }
    std::int64_t j = done - i;
    for (std::int64_t k = at; k < past && k < at + sort_tile; ++k) {
      const bool is_first = j >= n_b || (i < n_a && !before(b[j], a[i]));
      to[k] = is_first ? a[i++] : b[j++];
    }
  }
};

}  // namespace impl

/// Sorts a list; equal elements keep their order. `spare` has room for as many. Returns the one of
/// the two that holds the result. Enqueues only.
template <class Exec, class V, class Before>
[[nodiscard]] V* merge_sort(const std::string& label, const Exec& space, V* list, V* spare,
                            std::int64_t n, const Before& before) {
  const std::int64_t tiles = (n + impl::sort_tile - 1) / impl::sort_tile;
  for_each(label, space, tiles, impl::SortTile<V, Before>{list, n, before});
  for (std::int64_t width = impl::sort_tile; width < n; width *= 2) {
    for_each(label, space, tiles, impl::MergeTile<V, Before>{list, spare, n, width, before});
    std::swap(list, spare);
  }
  return list;
}

}  // namespace kastor::core

#endif
