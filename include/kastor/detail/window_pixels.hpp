// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WINDOW_PIXELS_HPP
#define KASTOR_DETAIL_WINDOW_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/sort_into_pages.hpp>

/// The pixels of a bin of the window, wherever the sort left them.
namespace kastor::detail {

/// A host's: all pixels in the order of their bins.
template <class T>
struct ListedWindow {
  const T* sorted;
  const std::uint64_t* begin;  ///< of the window's bins

  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_each(const Crew& crew, int bin, const Visit& visit) const {
    for_my_share(crew, sorted + begin[bin], static_cast<std::int64_t>(begin[bin + 1] - begin[bin]),
                 visit);
  }
  /// Copies them in any order; `next` is 0 before, and takes part in nothing else. All must call
  /// it, and wait for each other.
  template <class Crew>
  KOKKOS_FUNCTION void copy(const Crew& crew, int bin, T* to, int*) const {
    for_my_places(crew, sorted + begin[bin], static_cast<int>(begin[bin + 1] - begin[bin]),
                  [to](int i, T x) { to[i] = x; });
  }
};

/// A device's: each page has some.
template <class T>
struct PagedWindow {
  SortedPages<T> pages;

  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_each(const Crew& crew, int bin, const Visit& visit) const {
    for_each_run(crew, bin, [&](const T* from, int n) {
      for (int i = 0; i < n; ++i) visit(from[i]);
    });
  }
  template <class Crew>
  KOKKOS_FUNCTION void copy(const Crew& crew, int bin, T* to, int* next) const {
    for_each_run(crew, bin, [&](const T* from, int n) {
      T* const here = to + Kokkos::atomic_fetch_add(next, n);
      for_my_places<4>(Alone{}, from, n, [&](int i, T x) { here[i] = x; });
    });
  }

 private:
  /// Visits what this thread's pages have.
  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_each_run(const Crew& crew, int bin, const Visit& visit) const {
    constexpr int batch = 4;
    const std::int64_t count = *pages.count;
    const std::int64_t step = crew.size();
    KASTOR_KEEP_LOOP
    for (std::int64_t page = crew.rank(); page < count; page += batch * step) {
      typename SortedPages<T>::Places places[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::int64_t p = page + k * step;
        places[k] = p < count ? pages.places(p, bin) : typename SortedPages<T>::Places{0, 0};
      }
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const auto n = static_cast<int>(places[k].end - places[k].begin);
        if (n != 0) visit(pages.page(page + k * step) + places[k].begin, n);
      }
    }
  }
};

}  // namespace kastor::detail

#endif
