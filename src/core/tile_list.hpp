// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_TILE_LIST_HPP
#define KASTOR_CORE_TILE_LIST_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/bits.hpp"
#include "core/group.hpp"

namespace kastor::core {

/// Places that the threads of a group find in a tile and then share evenly; otherwise most threads
/// would wait for the few that have found something. There is room for `most` places; a thread that
/// finds more visits them itself. Successive tiles alternate between two lists and three counters,
/// so that one barrier per tile is enough. A group of one thread shares nothing: it visits a place
/// as soon as it finds it.
template <class Exec, int most>
class TileList {
 public:
  static constexpr int max_places = 65536;  ///< of a tile; places are 16-bit numbers from 0
  struct Space {
    std::uint16_t place[2][most];
    std::uint32_t count[3];
  };

  /// All threads of the group must call it, and `share` too.
  KOKKOS_FUNCTION TileList(const Group<Exec>& group, Space& space)
      : m_group(group), m_space(space) {
    group.for_each(3, [&](int i) { space.count[i] = 0; });
    group.barrier();
  }

  /// Adds the places of the set bits; any thread may call it. Calls `visit(place, pixel)` for those
  /// that do not fit into the list.
  template <class PlaceOf, class PixelOf, class Visit>
  KOKKOS_FUNCTION void add(std::uint64_t bits, const PlaceOf& place_of, const PixelOf& pixel_of,
                           const Visit& visit) const {
    if constexpr (!Group<Exec>::is_one_thread) {
      std::uint32_t at =
          m_group.fetch_add(&m_space.count[m_tile % 3], static_cast<std::uint32_t>(popcount(bits)));
      for (; bits != 0 && at < most; bits &= bits - 1)
        m_space.place[m_tile % 2][at++] = static_cast<std::uint16_t>(place_of(countr_zero(bits)));
    }
    for (; bits != 0; bits &= bits - 1) {
      const int bit = countr_zero(bits);
      visit(place_of(bit), pixel_of(bit));
    }
  }
  /// `visit(place)` for all places that were added since the last call and not yet visited.
  template <class Visit>
  KOKKOS_FUNCTION void share(const Visit& visit) {
    if constexpr (!Group<Exec>::is_one_thread) {
      m_group.barrier();
      if (m_group.rank() == 0) m_space.count[(m_tile + 2) % 3] = 0;
      const std::uint16_t* const places = m_space.place[m_tile % 2];
      const std::uint32_t found = m_space.count[m_tile % 3];
      m_group.for_each(found < most ? found : most, [&](std::uint32_t i) { visit(places[i]); });
      ++m_tile;
    }
  }

 private:
  const Group<Exec>& m_group;
  Space& m_space;
  std::uint32_t m_tile = 0;
};

}  // namespace kastor::core

#endif
