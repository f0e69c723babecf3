// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WINDOW_PIXELS_HPP
#define KASTOR_DETAIL_WINDOW_PIXELS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/sort_into_pages.hpp>
#include <kastor/detail/team_scratch.hpp>

/// The pixels of a bin of the window, wherever the sort left them.
namespace kastor::detail {

/// What a few pages have of a bin: as a rule few pixels each, read from all pages at once.
template <class T>
struct PixelsOfPages {
  static constexpr int pages = 4;
  static constexpr int ahead = 3;
  const T* from[pages];
  int n[pages];
  T first[pages][ahead];

  KOKKOS_FUNCTION void read() {
    KASTOR_UNROLL
    for (int k = 0; k < pages; ++k) {
      KASTOR_UNROLL
      for (int i = 0; i < ahead; ++i) first[k][i] = i < n[k] ? from[k][i] : T{0};
    }
  }
  [[nodiscard]] KOKKOS_FUNCTION int all() const {
    int sum = 0;
    KASTOR_UNROLL
    for (int k = 0; k < pages; ++k) sum += n[k];
    return sum;
  }
  /// Calls `visit(i, pixel)`, i = 0, 1 ...
  template <class Visit>
  KOKKOS_FUNCTION void for_each(const Visit& visit) const {
    int place = 0;
    KASTOR_UNROLL
    for (int k = 0; k < pages; ++k) {
      KASTOR_UNROLL
      for (int i = 0; i < ahead; ++i) {
        if (i < n[k]) visit(place + i, first[k][i]);
      }
      KASTOR_KEEP_LOOP
      for (int i = ahead; i < n[k]; ++i) visit(place + i, from[k][i]);
      place += n[k];
    }
  }
};

/// Each page has some.
template <class T>
struct PagedWindow {
  static constexpr std::int64_t room = 16384;  ///< for the pixels of a bin

  SortedPages<T> pages;
  const std::uint64_t* begin;  ///< as above
  T* copied;
  std::int64_t most_copied;  ///< no more than `room`

  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_each(const Crew& crew, int bin, const Visit& visit) const {
    if (!fill_pages(bin, bin)) return for_each_of_few(crew, bin, bin, visit);
    for_my_part_of_pages(crew, bin, [&](const Squad& squad, const T* from, int n) {
      for_my_places(squad, from, n, [&](int, T x) { visit(x); });
    });
  }
  /// The same of the bins from one to another, which should not fill pages.
  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_each_of_few(const Crew& crew, int first, int last,
                                       const Visit& visit) const {
    for_some_pages(crew, first, last, [&](const PixelsOfPages<T>& some) {
      some.for_each([&](int, T x) { visit(x); });
    });
  }
  /// Whether a page has many pixels of some bins, in the mean: values that very many pixels have,
  /// as a rule.
  [[nodiscard]] KOKKOS_FUNCTION bool fill_pages(int first, int last) const {
    constexpr std::uint64_t many = 2 * lanes;
    return begin[last + 1] - begin[first] > many * *pages.count;
  }
  template <class Crew>
  KOKKOS_FUNCTION void copy(const Crew& crew, int bin, T* to, int* next) const {
    if (fill_pages(bin, bin))
      return for_my_part_of_pages(crew, bin, [&](const Squad& squad, const T* from, int n) {
        const int mine = (n - squad.rank() + squad.size() - 1) / squad.size();
        if (mine <= 0) return;
        T* here = to + scratch_fetch_add(next, mine);
        for_my_places(squad, from, n, [&](int, T x) { *here++ = x; });
      });
    for_some_pages(crew, bin, bin, [&](const PixelsOfPages<T>& some) {
      const int n = some.all();
      if (n == 0) return;
      T* const here = to + scratch_fetch_add(next, n);
      some.for_each([&](int i, T x) { here[i] = x; });
    });
  }
  template <class Crew>
  [[nodiscard]] KOKKOS_FUNCTION const T* list(const Crew& crew, int bin, std::int64_t n,
                                              int* next) const {
    if (n > most_copied) return nullptr;
    copy(crew, bin, copied, next);
    return copied;
  }

 private:
  /// Calls `visit(squad, from, n)` for what a page has of a bin, in which a squad shares, so that
  /// its threads read pixels beside each other.
  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_my_part_of_pages(const Crew& crew, int bin, const Visit& visit) const {
    const int places = crew.size() % lanes == 0 ? lanes : 1;
    const Squad squad{crew.rank() % places, places};
    const std::int64_t count = *pages.count;
    const std::int64_t step = crew.size() / places;
    const auto places_of = [&](std::int64_t page) {
      return page < count ? pages.places(page, bin) : typename SortedPages<T>::Places{0, 0};
    };
    std::int64_t page = crew.rank() / places;
    typename SortedPages<T>::Places next = places_of(page);
    KASTOR_KEEP_LOOP
    for (; page < count; page += step) {
      const typename SortedPages<T>::Places here = next;
      next = places_of(page + step);  // under way meanwhile
      visit(squad, pages.page(page) + here.begin, static_cast<int>(here.end - here.begin));
    }
  }
  /// Visits what this thread's pages have of some bins.
  template <class Crew, class Visit>
  KOKKOS_FUNCTION void for_some_pages(const Crew& crew, int first, int last,
                                      const Visit& visit) const {
    constexpr int batch = PixelsOfPages<T>::pages;
    const std::int64_t count = *pages.count;
    const std::int64_t step = crew.size();
    KASTOR_KEEP_LOOP
    for (std::int64_t page = crew.rank(); page < count; page += batch * step) {
      typename SortedPages<T>::Places places[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        const std::int64_t p = page + k * step;
        places[k] =
            p < count ? pages.places(p, first, last) : typename SortedPages<T>::Places{0, 0};
      }
      PixelsOfPages<T> some;
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) {
        some.n[k] = static_cast<int>(places[k].end - places[k].begin);
        some.from[k] = pages.page(page + k * step) + places[k].begin;
      }
      some.read();
      visit(some);
    }
  }
};

}  // namespace kastor::detail

#endif
