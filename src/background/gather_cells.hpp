// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_BACKGROUND_GATHER_CELLS_HPP
#define KASTOR_BACKGROUND_GATHER_CELLS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <kastor/communicator.hpp>
#include <kastor/stream_params.hpp>
#include <vector>

#include "background/estimate_cells.hpp"
#include "background/mesh.hpp"

namespace kastor::detail {

/// Copies between the memory of `Exec` and that of the host. Enqueues only.
template <class Exec>
class CellBytes {
 public:
  explicit CellBytes(const Exec& space) : m_space(space) {}

  template <class V>
  void to_host(const V* from, std::byte* to, std::int64_t count) const {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(V);
    Kokkos::deep_copy(m_space, OnHost(to, bytes),
                      OnDevice(reinterpret_cast<const std::byte*>(from), bytes));
  }
  template <class V>
  void to_device(const V* from, V* to, std::int64_t count) const {
    const auto n = static_cast<std::size_t>(count);
    const Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> source(
        from, n);
    const Kokkos::View<V*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        target(to, n);
    Kokkos::deep_copy(m_space, target, source);
  }

 private:
  using OnHost =
      Kokkos::View<std::byte*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using OnDevice = Kokkos::View<const std::byte*, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Exec m_space;
};

/// Each rank has estimated its own rows of cells (`rows_of_rank`): afterwards every rank has all
/// cells, and their counts. A rank sends its counts, then the values of its cells, then which of
/// them are valid.
template <class Exec>
void gather_cells(const Exec& space, Communicator& ranks, const Shape& mesh,
                  const CellOutput& cells) {
  const auto rows_of = [&](int rank) { return rows_of_rank(mesh.ny, rank, ranks.size()); };
  const CellBytes<Exec> copy(space);
  const RowRange own = rows_of(ranks.rank());
  const std::int64_t first = own.first * mesh.nx, n = (own.past - own.first) * mesh.nx;
  std::vector<std::byte> mine(sizeof(CellCounts) +
                              static_cast<std::size_t>(n) * (sizeof(CellValue) + 1));
  std::byte* const values = mine.data() + sizeof(CellCounts);
  copy.to_host(cells.counts, mine.data(), 1);
  copy.to_host(cells.values + first, values, n);
  copy.to_host(cells.valid + first, values + static_cast<std::size_t>(n) * sizeof(CellValue), n);
  space.fence("kastor::background: the cells of the rank are on the host");
  const Communicator::Pieces pieces = ranks.gather(mine);

  std::vector<CellValue> all_values(static_cast<std::size_t>(mesh.ny * mesh.nx));
  std::vector<std::uint8_t> all_valid(all_values.size());
  CellCounts counts;
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    const RowRange rows = rows_of(static_cast<int>(rank));
    const auto at = static_cast<std::size_t>(rows.first * mesh.nx);
    const auto of_rank = static_cast<std::size_t>((rows.past - rows.first) * mesh.nx);
    const std::byte* from = pieces[rank].data();
    CellCounts part;
    std::memcpy(&part, from, sizeof part);
    counts.valid += part.valid;
    counts.good += part.good;
    counts.lowest_level = std::min(counts.lowest_level, part.lowest_level);
    counts.lowest_rms = std::min(counts.lowest_rms, part.lowest_rms);
    if (of_rank == 0) continue;
    from += sizeof part;
    std::memcpy(all_values.data() + at, from, of_rank * sizeof(CellValue));
    std::memcpy(all_valid.data() + at, from + of_rank * sizeof(CellValue), of_rank);
  }
  copy.to_device(all_values.data(), cells.values, mesh.ny * mesh.nx);
  copy.to_device(all_valid.data(), cells.valid, mesh.ny * mesh.nx);
  copy.to_device(&counts, cells.counts, 1);
  space.fence("kastor::background: all cells are on the device");
}

}  // namespace kastor::detail

#endif
