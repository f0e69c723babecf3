// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_REFINED_CELL_HPP
#define KASTOR_DETAIL_REFINED_CELL_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/cell_excerpt.hpp>
#include <kastor/detail/cell_pixels.hpp>
#include <kastor/detail/cell_reader.hpp>
#include <kastor/detail/cell_sums.hpp>

namespace kastor::detail {

/// Answers for a crew as an ExcerptedCell, and knows the sums on finer grids, too: for them it
/// reads the cell. All threads of the crew ask the same.
template <class Crew, class T>
class RefinedCell : public ExcerptedCell<T> {
 public:
  KOKKOS_FUNCTION RefinedCell(const Crew& crew, const CellImage<T>& image, const Cell& cell,
                              const CellExcerpt<T>& from)
      : ExcerptedCell<T>(from),
        m_crew(crew),
        m_reader(image, cell, crew.rank(), crew.size(), nullptr) {}

  [[nodiscard]] KOKKOS_FUNCTION IntervalSums sums(const Interval<T>& interval, const Grid& grid) {
    if (!this->has_summed()) return ExcerptedCell<T>::sums(interval, grid);
    return sums_within(m_crew, m_reader, interval, grid).wide();
  }

 private:
  const Crew& m_crew;
  CellReader<T> m_reader;
};

}  // namespace kastor::detail

#endif
