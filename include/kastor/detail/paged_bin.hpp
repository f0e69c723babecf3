// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PAGED_BIN_HPP
#define KASTOR_DETAIL_PAGED_BIN_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/sums_before.hpp>

namespace kastor::detail {

/// What some pages have of a bin, as if it lay in one piece; for a team of so many threads.
template <class T, int Threads>
class PagedBin {
 public:
  static constexpr int most_pages = Threads;
  struct Space {
    SumsBeforeSpace<std::uint32_t, 1, Threads> sums;
    std::uint32_t first[most_pages + 1];  ///< pixels of the pages before each
    std::uint16_t begin[most_pages];      ///< in the page
  };

  /// All must call it. The space is to be left alone as long as this is used.
  template <class Crew>
  KOKKOS_FUNCTION PagedBin(const Crew& crew, const SortedPages<T>& pages, int bin,
                           std::int64_t first_page, int count, Space& space)
      : m_pages(pages), m_space(space), m_first_page(first_page), m_count(count) {
    const int mine = crew.rank();
    typename SortedPages<T>::Places places{0, 0};
    if (mine < count) places = pages.places(first_page + mine, bin);
    std::uint32_t before[1] = {places.end - places.begin};
    std::uint32_t all[1];
    sums_before(crew, space.sums, before, all);
    space.first[mine] = before[0];  // of those beyond the last page, all
    space.begin[mine] = static_cast<std::uint16_t>(places.begin);
    m_size = all[0];
    if (mine == 0) space.first[most_pages] = m_size;
    crew.barrier();
  }

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t size() const { return m_size; }

  /// Those of a thread among pixels [first, past): every so many-th as there are threads.
  template <int N>
  KOKKOS_FUNCTION void load(int rank, std::uint32_t first, std::uint32_t past,
                            T (&pixels)[N]) const {
    std::uint32_t i = first + static_cast<std::uint32_t>(rank);
    int p = last_not_above(m_space.first, m_count, i);
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k, i += Threads) {
      if (i >= past) break;
      // In the same page or the next one, or far behind.
      if (i >= m_space.first[p + 1]) ++p;
      if (i >= m_space.first[p + 1]) p += last_not_above(m_space.first + p, m_count - p, i);
      pixels[k] = m_pages.page(m_first_page + p)[m_space.begin[p] + i - m_space.first[p]];
    }
  }

 private:
  const SortedPages<T>& m_pages;
  Space& m_space;
  std::int64_t m_first_page;
  int m_count;
  std::uint32_t m_size = 0;
};

}  // namespace kastor::detail

#endif
