// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WINDOW_RANKS_HPP
#define KASTOR_DETAIL_WINDOW_RANKS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/gather.hpp>
#include <kastor/detail/select.hpp>
#include <vector>

namespace kastor::detail {

/// Monotone map of the window's pixels to bins of equal width.
template <class T>
struct WindowBin {
  static constexpr int count = 4096;
  double low = 0;
  double per_unit = 0;

  WindowBin() = default;
  WindowBin(T l, T high)
      : low(static_cast<double>(l)),
        per_unit(static_cast<double>(count) /
                 (static_cast<double>(high) - static_cast<double>(l))) {}
  [[nodiscard]] KOKKOS_FUNCTION int operator()(T x) const {
    // The product may round up to `count`, and to NaN or infinity for a window of denormals: any
    // clamp keeps it monotone.
    const double b = (static_cast<double>(x) - low) * per_unit;
    return b < count - 1 ? static_cast<int>(b) : count - 1;
  }
};

template <class T, class Exec>
struct CountWindow {
  const T* values;
  WindowBin<T> bin_of;
  BinCounts<Exec> counts;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Kokkos::atomic_inc(&counts(bin_of(values[i])));
  }
};

template <class T, class Exec>
struct ScatterWindow {
  const T* values;
  WindowBin<T> bin_of;
  BinCounts<Exec> next;
  Values<T, Exec> sorted;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    sorted(Kokkos::atomic_fetch_add(&next(bin_of(values[i])), std::uint64_t{1})) = values[i];
  }
};

/// Both at once for a host with one thread, which needs no atomics.
template <class T, class Exec>
struct SortWindowAlone {
  const T* values;
  std::int64_t count;
  WindowBin<T> bin_of;
  std::uint64_t* next;   ///< work space
  std::uint64_t* begin;  ///< of the bins
  T* sorted;

  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    for (int b = 0; b < WindowBin<T>::count; ++b) next[b] = 0;
    for (std::int64_t i = 0; i < count; ++i) ++next[bin_of(values[i])];
    std::uint64_t before = 0;
    for (int b = 0; b < WindowBin<T>::count; ++b) {
      begin[b] = before;
      before += next[b];
      next[b] = begin[b];
    }
    begin[WindowBin<T>::count] = before;
    for (std::int64_t i = 0; i < count; ++i) sorted[next[bin_of(values[i])]++] = values[i];
  }
};

/// The gathered pixels of the median window, sorted into bins once; then any rank costs one bin.
template <class Exec, class T>
class WindowRanks {
 public:
  WindowRanks(const Exec& space)
      : m_space(space),
        m_next(Kokkos::view_alloc(space, Kokkos::WithoutInitializing,
                                  "kastor::sigma_clip::window_bins"),
               WindowBin<T>::count),
        m_begin(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::sigma_clip::window_begin"),
                WindowBin<T>::count + 1),
        m_selector(space) {}

  void reserve(std::int64_t capacity) {
    if (static_cast<std::int64_t>(m_sorted.extent(0)) >= capacity) return;
    m_sorted = {};
    m_sorted = Values<T, Exec>(Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing,
                                                  "kastor::sigma_clip::window_sorted"),
                               static_cast<std::size_t>(capacity));
  }

  void sort_into_bins(const Values<T, Exec>& values, std::int64_t count, T low, T high) {
    m_fetched = -1;
    const WindowBin<T> bin_of(low, high);
    if (is_host_space_v<Exec> && m_space.concurrency() == 1) {
      Kokkos::parallel_for(
          "kastor::sigma_clip::sort_window",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(m_space, 0, 1),
          SortWindowAlone<T, Exec>{values.data(), count, bin_of, m_next.data(), m_begin.data(),
                                   m_sorted.data()});
      m_space.fence("kastor::sigma_clip::sort_window");
      return;
    }
    const Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> all(m_space, 0, count);
    Kokkos::deep_copy(m_space, m_next, std::uint64_t{0});
    Kokkos::parallel_for("kastor::sigma_clip::count_window", all,
                         CountWindow<T, Exec>{values.data(), bin_of, m_next});
    const auto counts = Kokkos::subview(m_begin, Kokkos::make_pair(1, WindowBin<T>::count + 1));
    Kokkos::deep_copy(m_space, counts, m_next);
    m_space.fence("kastor::sigma_clip::count_window");
    m_begin(0) = 0;
    for (int b = 0; b < WindowBin<T>::count; ++b) m_begin(b + 1) += m_begin(b);
    Kokkos::deep_copy(m_space, m_next,
                      Kokkos::subview(m_begin, Kokkos::make_pair(0, WindowBin<T>::count)));
    Kokkos::parallel_for("kastor::sigma_clip::scatter_window", all,
                         ScatterWindow<T, Exec>{values.data(), bin_of, m_next, m_sorted});
  }

  [[nodiscard]] T at_rank(std::int64_t rank) {
    const auto* begin = m_begin.data();
    const auto bin = static_cast<int>(
        std::upper_bound(begin, begin + WindowBin<T>::count + 1, static_cast<std::uint64_t>(rank)) -
        begin - 1);
    const auto first = static_cast<std::int64_t>(begin[bin]);
    const auto count = static_cast<std::int64_t>(begin[bin + 1]) - first;
    if (count > max_fetched) {
      const ConstImage<T, Exec> row(m_sorted.data() + first, 1, static_cast<std::size_t>(count));
      return m_selector(Bands<T, Exec>(&row, 1), Interval<T>{}, rank - first, false).first;
    }
    if (bin != m_fetched) fetch(bin, first, count);
    return m_bin[static_cast<std::size_t>(rank - first)];
  }

 private:
  static constexpr std::int64_t max_fetched = 65536;

  void fetch(int bin, std::int64_t first, std::int64_t count) {
    m_bin.resize(static_cast<std::size_t>(count));
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
        m_bin.data(), static_cast<std::size_t>(count));
    Kokkos::deep_copy(m_space, host,
                      Kokkos::subview(m_sorted, Kokkos::make_pair(first, first + count)));
    m_space.fence("kastor::sigma_clip::fetch_bin");
    std::sort(m_bin.begin(), m_bin.end());
    m_fetched = bin;
  }

  Exec m_space;
  BinCounts<Exec> m_next;
  Kokkos::View<std::uint64_t*, Kokkos::HostSpace> m_begin;
  Values<T, Exec> m_sorted;
  RankSelector<Exec, T> m_selector;
  std::vector<T> m_bin;
  int m_fetched = -1;
};

}  // namespace kastor::detail

#endif
