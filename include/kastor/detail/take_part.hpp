// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_TAKE_PART_HPP
#define KASTOR_DETAIL_TAKE_PART_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/host_lists.hpp>

namespace kastor::detail {

/// Where pixels of an interval end up, and how many are below its bounds and its middle.
template <class T>
struct TakePart {
  struct Counts {
    std::int64_t below = 0, below_middle = 0, between = 0;
  };
  using value_type = Counts;

  const T* pixels;
  std::int64_t n;  ///< whole blocks
  HostTaking<T> taking;
  T* to;
  std::int64_t room;
  std::int64_t* next;
  bool alone;  ///< one thread

  KOKKOS_FUNCTION void operator()(std::int64_t part, Counts& counts) const {
    KOKKOS_IF_ON_HOST((take(part, counts);))
  }
  KOKKOS_FUNCTION void init(Counts& counts) const { counts = {}; }
  KOKKOS_FUNCTION void join(Counts& into, const Counts& from) const {
    into.below += from.below;
    into.below_middle += from.below_middle;
    into.between += from.between;
  }

 private:
  void take(std::int64_t part, Counts& counts) const {
    const std::int64_t begin = part * host_list_part;
    fetch_next_part(pixels + begin, n - begin);
    HostTaking<T> mine = taking;
    T taken[host_list_part + cell_block];
    take_on_host(best_host_level(), pixels + begin, std::min(host_list_part, n - begin), mine,
                 taken, host_list_part);
    join(counts, {mine.below, mine.below_middle, mine.count});
    if (mine.count == 0 || room == 0) return;
    const std::int64_t at = claim_places(next, mine.count, alone);
    if (at + mine.count <= room)
      std::memcpy(to + at, taken, static_cast<std::size_t>(mine.count) * sizeof(T));
  }
};

}  // namespace kastor::detail

#endif
