// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CEILING_WRITER_HPP
#define KASTOR_DETAIL_CEILING_WRITER_HPP

#include <cstdint>
#include <kastor/detail/ceilings_of_cells.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/scratch_cursor.hpp>

namespace kastor::detail {

/// Of a warp that reads a cell: each thread says what the largest of its pixels of each four rows
/// is, and four threads side by side have one ceiling. They meet in scratch memory, after eight
/// times four rows: shuffles after each four took four times as many instructions.
template <class Crew, class T>
class CeilingWriter {
 public:
  /// `scratch`: room for ceiling_groups values of each thread, at a multiple of 16 bytes.
  KOKKOS_FUNCTION CeilingWriter(const Crew& crew, const CeilingRoom<T>& room, T* scratch)
      : m_crew(crew), m_scratch(scratch), m_next(scratch + crew.rank()), m_stride(room.stride) {
    // Threads go on to the next columns with every four rows.
    constexpr int in_row = ceilings_of_rows / 2;
    const int rows = crew.rank() / ceilings_of_rows, four = crew.rank() % ceilings_of_rows;
    m_to = room.values + rows * m_stride + four / in_row * in_row + (four + rows) % in_row;
  }

  /// All threads call it together, for a multiple of ceiling_groups.
  KOKKOS_FUNCTION void take(T largest) {
    m_next.put(largest);
    m_next.step_if(true, lanes);
    if (++m_waiting == ceiling_groups) write();
  }

 private:
  /// So many times four rows have a ceiling for each thread.
  static constexpr int at_once = lanes / ceilings_of_rows;
  static_assert(at_once % (ceilings_of_rows / 2) == 0);  // so that the columns are the same

  KOKKOS_FUNCTION void write() {
    m_crew.barrier();
    KASTOR_UNROLL
    for (int i = 0; i < ceiling_groups / at_once; ++i) {
      *m_to = largest_of_four(i * lanes + m_crew.rank());
      m_to += at_once * m_stride;
    }
    m_crew.barrier();
    m_next = ScratchCursor<T>(m_scratch + m_crew.rank());
    m_waiting = 0;
  }
  [[nodiscard]] KOKKOS_FUNCTION T largest_of_four(int at) const {
    constexpr int pack = PixelPack<T>::size;
    const auto* const packs = reinterpret_cast<const PixelPack<T>*>(m_scratch + 4 * at);
    T largest = packs[0].pixel[0];
    KASTOR_UNROLL
    for (int k = 1; k < 4; ++k) largest = Kokkos::fmax(largest, packs[k / pack].pixel[k % pack]);
    return largest;
  }

  const Crew& m_crew;
  T* m_scratch;
  ScratchCursor<T> m_next;
  T* m_to;
  std::int64_t m_stride;
  int m_waiting = 0;
};

/// Of a read that notes none.
struct NoCeilings {
  template <class Crew, class T>
  KOKKOS_FUNCTION NoCeilings(const Crew&, const CeilingRoom<T>&, T*) {}
  template <class T>
  KOKKOS_FUNCTION void take(T) {}
};

}  // namespace kastor::detail

#endif
