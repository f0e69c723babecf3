// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SIGMA_CLIP_WINDOW_HPP
#define KASTOR_SIGMA_CLIP_WINDOW_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "core/group.hpp"
#include "core/ordered_key.hpp"
#include "sigma_clip/gathered_bins.hpp"
#include "sigma_clip/sort.hpp"

namespace kastor::detail {

/// Scratch memory of Window.
template <class T>
struct WindowSpace {
  static constexpr int most_sorted = 128;
  static constexpr int digit_bits = 6;
  static constexpr int digits = 1 << digit_bits;
  std::uint32_t begin[GatheredBins<T>::window + 1];
  T unsorted[most_sorted];
  T sorted[most_sorted];
  std::uint32_t of_digit[digits];
  std::uint32_t before_digit, digit;  ///< pixels with smaller digits, and the digit of the rank
  std::uint32_t gathered;
};

/// Selects pixels of the window by rank. All threads of the group must call each function with the
/// same arguments; all get the same answer.
template <class Exec, class T>
class Window {
 public:
  KOKKOS_FUNCTION Window(const core::Group<Exec>& group, const GatheredBins<T>& bins,
                         const SortedBins<T>& sorted, WindowSpace<T>& space)
      : m_group(group), m_bins(bins), m_pixels(sorted.pixels), m_space(space) {
    group.copy_list(sorted.begin, space.begin, GatheredBins<T>::window + 1);
    group.barrier();
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const {
    return m_space.begin[GatheredBins<T>::window];  // the bins of the window come first
  }
  /// Number of pixels smaller than x, which lies in the window.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t below(T x) const {
    const int bin = m_bins.in_window(x);
    std::int64_t n = 0;
    for_each_in_bin(bin, [&](T y) { n += y < x ? 1 : 0; });
    return m_space.begin[bin] + m_group.sum(n);
  }
  /// The pixel of a rank, counted from 0.
  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::int64_t rank) {
    const auto r = static_cast<std::uint32_t>(rank);
    if ((r < m_first_sorted || r >= m_past_sorted) && !sort_around(r)) return select(r);
    return m_space.sorted[r - m_first_sorted];
  }

 private:
  using Key = core::Key<T>;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t count_of(int bin) const {
    return m_space.begin[bin + 1] - m_space.begin[bin];
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of_rank(std::uint32_t rank) const {
    int low = 0;
    int high = GatheredBins<T>::window;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (m_space.begin[middle] <= rank ? low : high) = middle;
    }
    return low;
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_in_bin(int bin, const Visit& visit) const {
    m_group.for_each_of(m_pixels + m_space.begin[bin], count_of(bin), visit);
  }

  /// Sorts the pixels around a rank: its bin, or one of the equal parts of a full bin. False if
  /// these are still too many.
  [[nodiscard]] KOKKOS_FUNCTION bool sort_around(std::uint32_t rank) {
    const int bin = bin_of_rank(rank);
    std::uint32_t first = m_space.begin[bin];
    std::uint32_t n = count_of(bin);
    m_group.barrier();  // the sorted pixels have been read
    if (m_group.rank() == 0) m_space.gathered = 0;
    if (n <= WindowSpace<T>::most_sorted) {
      m_group.copy_list(m_pixels + first, m_space.unsorted, n);
    } else {
      const auto part_of = [&](T x) {
        return m_bins.part_of_window_bin(x, bin, WindowSpace<T>::digits);
      };
      count_digits(bin, part_of);
      const auto part = static_cast<int>(find_digit(rank - first));
      first += m_space.before_digit;
      n = m_space.of_digit[part];
      if (n > WindowSpace<T>::most_sorted) return false;
      for_each_in_bin(bin, [&](T x) {
        if (part_of(x) == part) m_space.unsorted[m_group.fetch_add(&m_space.gathered, 1U)] = x;
      });
    }
    m_group.barrier();
    sort(static_cast<int>(n));
    m_first_sorted = first;
    m_past_sorted = first + n;
    return true;
  }
  /// Sorts by counting how many pixels come before each one.
  KOKKOS_FUNCTION void sort(int n) {
    const T* const unsorted = m_space.unsorted;
    m_group.for_each(n, [&](int i) {
      const T x = unsorted[i];
      int before = 0;
      KASTOR_UNROLL_BY_8
      for (int k = 0; k < n; ++k)
        before += ((unsorted[k] < x) | ((unsorted[k] == x) & (k < i))) ? 1 : 0;
      m_space.sorted[before] = x;
    });
    m_group.barrier();
  }

  /// A histogram of `digit_of(x)` over the pixels of a bin; negative digits are not counted.
  template <class DigitOf>
  KOKKOS_FUNCTION void count_digits(int bin, const DigitOf& digit_of) const {
    m_group.barrier();  // the previous histogram has been read
    m_group.for_each(WindowSpace<T>::digits, [&](int d) { m_space.of_digit[d] = 0; });
    m_group.barrier();
    for_each_in_bin(bin, [&](T x) {
      const int digit = digit_of(x);
      if (digit >= 0) m_group.fetch_add(&m_space.of_digit[digit], 1U);
    });
    m_group.barrier();
  }
  /// Returns the digit of the pixel of a rank, among those counted, and stores how many pixels have
  /// smaller digits.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t find_digit(std::uint32_t rank) const {
    m_group.for_each(WindowSpace<T>::digits, [&](int d) {
      std::uint32_t before = 0;
      KASTOR_UNROLL_BY_8
      for (int k = 0; k < d; ++k) before += m_space.of_digit[k];
      if (rank < before || rank - before >= m_space.of_digit[d]) return;
      m_space.before_digit = before;
      m_space.digit = static_cast<std::uint32_t>(d);
    });
    m_group.barrier();
    return m_space.digit;
  }

  /// Selects in a bin with very many pixels close together, as in images with few distinct values:
  /// digit by digit of the ordered keys, from the most significant one (radix select).
  [[nodiscard]] KOKKOS_FUNCTION T select(std::uint32_t rank) const {
    constexpr int digit_bits = WindowSpace<T>::digit_bits;
    constexpr int key_bits = 8 * static_cast<int>(sizeof(Key));
    constexpr int first_shift = (key_bits - 1) / digit_bits * digit_bits;
    const int bin = bin_of_rank(rank);
    rank -= m_space.begin[bin];
    Key prefix = 0;
    for (int shift = first_shift; shift >= 0; shift -= digit_bits) {
      count_digits(bin, [&](T x) {
        const Key key = core::key_of(core::without_sign_of_zero(x));
        const bool is_candidate =
            shift == first_shift || (key ^ prefix) >> (shift + digit_bits) == 0;
        return is_candidate ? static_cast<int>(key >> shift) & (WindowSpace<T>::digits - 1) : -1;
      });
      const std::uint32_t digit = find_digit(rank);
      rank -= m_space.before_digit;
      prefix |= static_cast<Key>(digit) << shift;
    }
    return core::value_of<T>(prefix);
  }

  const core::Group<Exec>& m_group;
  GatheredBins<T> m_bins;
  const T* m_pixels;
  WindowSpace<T>& m_space;
  std::uint32_t m_first_sorted = 0, m_past_sorted = 0;  ///< ranks of the sorted pixels
};

}  // namespace kastor::detail

#endif
