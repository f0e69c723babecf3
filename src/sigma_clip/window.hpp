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
  static constexpr int most_sorted = 512;
  static constexpr int digits = 256;
  std::uint32_t begin[GatheredBins<T>::window + 1];
  T unsorted[most_sorted];
  T sorted[most_sorted];
  std::uint32_t of_digit[digits];
};

/// Pixels of the window by rank. All threads of the group must call each function, with the same
/// arguments, and get the same answer.
template <class Exec, class T>
class Window {
 public:
  KOKKOS_FUNCTION Window(const core::Group<Exec>& group, const GatheredBins<T>& bins,
                         const SortedBins<T>& sorted, WindowSpace<T>& space)
      : m_group(group), m_bins(bins), m_pixels(sorted.pixels), m_space(space) {
    group.for_each(GatheredBins<T>::window + 1, [&](int b) { space.begin[b] = sorted.begin[b]; });
    group.barrier();
  }

  [[nodiscard]] KOKKOS_FUNCTION std::int64_t pixels() const {
    return m_space.begin[GatheredBins<T>::window];  // the window's bins are the first
  }
  /// Pixels that are smaller than x, which lies in the window.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t below(T x) const {
    const int bin = m_bins.in_window(x);
    std::int64_t n = 0;
    for_each_in_bin(bin, [&](T y) { n += y < x ? 1 : 0; });
    return m_space.begin[bin] + m_group.sum(n);
  }
  /// The pixel of a rank, from 0.
  [[nodiscard]] KOKKOS_FUNCTION T operator()(std::int64_t rank) {
    const int bin = bin_of_rank(rank);
    const auto in_bin = static_cast<std::uint32_t>(rank) - m_space.begin[bin];
    if (count_of(bin) > WindowSpace<T>::most_sorted) return select(bin, in_bin);
    if (bin != m_sorted_bin) sort(bin);
    return m_space.sorted[in_bin];
  }

 private:
  using Key = core::Key<T>;

  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t count_of(int bin) const {
    return m_space.begin[bin + 1] - m_space.begin[bin];
  }
  [[nodiscard]] KOKKOS_FUNCTION int bin_of_rank(std::int64_t rank) const {
    int low = 0;
    int high = GatheredBins<T>::window;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (static_cast<std::int64_t>(m_space.begin[middle]) <= rank ? low : high) = middle;
    }
    return low;
  }
  template <class Visit>
  KOKKOS_FUNCTION void for_each_in_bin(int bin, const Visit& visit) const {
    m_group.for_each_of(m_pixels + m_space.begin[bin], count_of(bin), visit);
  }

  /// By counting how many pixels of the bin come before each.
  KOKKOS_FUNCTION void sort(int bin) {
    const auto n = static_cast<int>(count_of(bin));
    const T* const pixels = m_pixels + m_space.begin[bin];
    m_group.barrier();  // the last bin's pixels have been read
    m_group.for_each(n, [&](int i) { m_space.unsorted[i] = pixels[i]; });
    m_group.barrier();
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
    m_sorted_bin = bin;
  }

  /// Of a bin with very many pixels, as in images of few different values: digit by digit of the
  /// ordered keys, from the highest one.
  [[nodiscard]] KOKKOS_FUNCTION T select(int bin, std::uint32_t rank) const {
    constexpr int digit_bits = 8;
    constexpr int key_bits = 8 * static_cast<int>(sizeof(Key));
    Key prefix = 0;
    for (int shift = key_bits - digit_bits; shift >= 0; shift -= digit_bits) {
      m_group.for_each(WindowSpace<T>::digits, [&](int d) { m_space.of_digit[d] = 0; });
      m_group.barrier();
      for_each_in_bin(bin, [&](T x) {
        const Key key = core::key_of(core::without_sign_of_zero(x));
        const bool is_candidate =
            shift + digit_bits >= key_bits || (key ^ prefix) >> (shift + digit_bits) == 0;
        if (is_candidate) m_group.fetch_add(&m_space.of_digit[(key >> shift) & 0xff], 1U);
      });
      m_group.barrier();
      std::uint32_t digit = 0;
      while (rank >= m_space.of_digit[digit]) rank -= m_space.of_digit[digit++];
      prefix |= static_cast<Key>(digit) << shift;
      m_group.barrier();
    }
    return core::value_of<T>(prefix);
  }

  const core::Group<Exec>& m_group;
  GatheredBins<T> m_bins;
  const T* m_pixels;
  WindowSpace<T>& m_space;
  int m_sorted_bin = -1;
};

}  // namespace kastor::detail

#endif
