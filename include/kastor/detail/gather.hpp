// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_HPP
#define KASTOR_DETAIL_GATHER_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <kastor/detail/borderline_pixels.hpp>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/reduce_pixels.hpp>
#include <kastor/detail/run_host.hpp>
#include <kastor/detail/scan_host.hpp>

/// The one read of the image on hosts: sums of the pixels inside the edges, those of the window and
/// the tails gathered, candidates marked.
namespace kastor::detail {

/// Sums over all inside pixels, in units of the brackets' grid.
struct InsideSums {
  static constexpr int max_spikes = Brackets<float>::max_spikes;
  std::int64_t inside = 0;
  std::int64_t below = 0;  ///< of these, pixels below the window
  std::int64_t spike[max_spikes] = {};
  Int128 sum, squares;

  KOKKOS_FUNCTION InsideSums& operator+=(const InsideSums& other) {
    inside += other.inside;
    below += other.below;
    for (int i = 0; i < max_spikes; ++i) spike[i] += other.spike[i];
    sum += other.sum;
    squares += other.squares;
    return *this;
  }
};

/// A host's gathered pixels, in no order: the tails from the front, the window from the back. If
/// `gathered` exceeds the capacity, some were lost. A block more lies between them, and behind.
template <class T>
struct GatheredLists {
  T* values;
  std::int64_t capacity;
  std::int64_t* gathered;
  std::int64_t* in_tails;
  std::int64_t* in_window;
  bool alone;  ///< one thread

  [[nodiscard]] static std::int64_t size(std::int64_t capacity) {
    return capacity + 2 * cell_block;
  }
  [[nodiscard]] T* window(std::int64_t n) const { return values + capacity + cell_block - n; }

  void append_to_tails(const T* from, std::int64_t n) const {
    if (has_room(n)) copy(from, n, values + claim_places(in_tails, n, alone));
  }
  void append_to_window(const T* from, std::int64_t n) const {
    if (has_room(n)) copy(from, n, window(claim_places(in_window, n, alone) + n));
  }

 private:
  [[nodiscard]] bool has_room(std::int64_t n) const {
    return claim_places(gathered, n, alone) + n <= capacity;
  }
  static void copy(const T* from, std::int64_t n, T* to) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  }
};

/// Words of a bit mask, as rows are read into them.
struct MaskRows {
  std::uint64_t* words = nullptr;  ///< null: no mask is wanted
  std::int64_t per_row = 0;
};

/// Rows of a band in stretches whose bits begin with a word of the mask. A stretch lies in one row;
/// rows without gaps are one.
template <class T>
struct GatherOnHost {
  using value_type = InsideSums;
  static constexpr std::int64_t stretch = host_segment;
  static_assert(stretch % 64 == 0 && stretch <= max_grid_terms);
  static_assert(stretch <= 64 * BorderlinePixels<T>::most_words);

  Rows<T> rows;
  MaskRows mask;
  std::int64_t per_row;
  Brackets<T> brackets;
  GatheredLists<T> gathered;
  BorderlinePixels<T> borderline;  ///< if a mask is wanted

  GatherOnHost(const Rows<T>& r, const MaskRows& m, const Brackets<T>& b, const GatheredLists<T>& g,
               const BorderlinePixels<T>& l)
      : rows(r), mask(m), brackets(b), gathered(g), borderline(l) {
    if (rows.pitch == rows.nx && (mask.words == nullptr || rows.nx % 64 == 0))
      rows = {rows.data, 1, rows.ny * rows.nx, rows.ny * rows.nx};
    per_row = (rows.nx + stretch - 1) / stretch;
  }
  [[nodiscard]] std::int64_t count() const { return rows.ny * per_row; }

  KOKKOS_FUNCTION void operator()(std::int64_t i, InsideSums& sums) const {
    KOKKOS_IF_ON_HOST((scan(i, sums);))
  }
  KOKKOS_FUNCTION void init(InsideSums& sums) const { sums = InsideSums{}; }
  KOKKOS_FUNCTION void join(InsideSums& into, const InsideSums& from) const { into += from; }

 private:
  void scan(std::int64_t i, InsideSums& sums) const {
    const std::int64_t y = i / per_row;
    const std::int64_t x = i % per_row * stretch;
    const std::int64_t n = rows.nx - x < stretch ? rows.nx - x : stretch;
    const T* const pixels = rows.data + y * rows.pitch + x;
    std::uint64_t* const words =
        mask.words == nullptr ? nullptr : mask.words + y * mask.per_row + x / 64;
    T in_tails[stretch + 64];
    T in_window[stretch + 64];
    HostLists<T> lists{in_tails, in_window};
    HostScanSums found;
    scan_on_host(best_host_level(),
                 HostScan<T>{brackets.low_edge, brackets.high_edge, brackets.window_low,
                             brackets.window_high, brackets.centre, brackets.grid.centre,
                             brackets.grid.scale, brackets.candidate},
                 pixels, n, found, lists, words);
    sums.inside += found.inside;
    sums.below += found.below;
    sums.sum.add(unbias(found.sum, n));
    sums.squares.add(unbias(found.squares, n));
    if (words != nullptr && may_have_borderline(lists))
      borderline.append(pixels, n, words, brackets.certain);
    if (brackets.spikes > 0) count_spikes(lists, sums);
    if (lists.in_tails > 0) gathered.append_to_tails(in_tails, lists.in_tails);
    if (lists.in_window > 0) gathered.append_to_window(in_window, lists.in_window);
  }

  /// Where candidates lie beyond the edges, those of a stretch are among its tails.
  [[nodiscard]] bool may_have_borderline(const HostLists<T>& lists) const {
    if (!(brackets.candidate < brackets.certain) || borderline.is_full()) return false;
    if (brackets.has_candidate == 0) return true;
    int any = 0;
    for (std::int64_t i = 0; i < lists.in_tails; ++i)
      any |= ((lists.tails[i] > brackets.candidate) & (lists.tails[i] <= brackets.certain)) ? 1 : 0;
    return any != 0;
  }

  /// Takes the spikes out of the window's list.
  void count_spikes(HostLists<T>& lists, InsideSums& sums) const {
    lists.in_window = take_out_on_host(best_host_level(), brackets.spike, brackets.spikes,
                                       lists.window, lists.in_window, sums.spike);
  }
};

}  // namespace kastor::detail

#endif
