// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_GATHER_HPP
#define KASTOR_DETAIL_GATHER_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/borderline_pixels.hpp>
#include <kastor/detail/brackets.hpp>
#include <kastor/detail/fixed_point.hpp>
#include <kastor/detail/host_lists.hpp>
#include <kastor/detail/mask_lines.hpp>
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

/// A bit mask, as rows are read into it from one of its rows on.
struct MaskRows {
  std::uint64_t* words = nullptr;  ///< of the whole mask; null: none is wanted
  MaskLines lines = {};            ///< which are known
  std::int64_t per_row = 0;
  std::int64_t first_row = 0;
};

/// Rows of a band in stretches whose bits begin with a word of the mask. A stretch lies in one row;
/// rows without gaps are one. What is gathered goes to the lists of all threads after several
/// stretches: to claim places there after each would take threads longer than they gain.
template <class T>
struct GatherOnHost {
  using value_type = InsideSums;
  static constexpr std::int64_t stretch = host_segment;
  static_assert(stretch % 64 == 0 && stretch <= max_grid_terms);
  static_assert(stretch <= 64 * BorderlinePixels<T>::most_words);
  static constexpr std::int64_t most_at_once = 8;  ///< stretches
  static constexpr std::int64_t many = 4096;       ///< pixels that are not kept back any longer

  Rows<T> rows;
  MaskRows mask;
  std::int64_t per_row;
  std::int64_t at_once;  ///< stretches
  Brackets<T> brackets;
  GatheredLists<T> gathered;
  BorderlinePixels<T> borderline;  ///< if a mask is wanted

  GatherOnHost(const Rows<T>& r, const MaskRows& m, const Brackets<T>& b, const GatheredLists<T>& g,
               const BorderlinePixels<T>& l, std::int64_t threads)
      : rows(r), mask(m), brackets(b), gathered(g), borderline(l) {
    if (rows.pitch == rows.nx && (mask.words == nullptr || rows.nx % 64 == 0))
      rows = {rows.data, 1, rows.ny * rows.nx, rows.ny * rows.nx};
    per_row = (rows.nx + stretch - 1) / stretch;
    at_once = std::clamp<std::int64_t>(stretches() / (16 * threads), 1, most_at_once);
  }
  [[nodiscard]] std::int64_t count() const { return (stretches() + at_once - 1) / at_once; }

  KOKKOS_FUNCTION void operator()(std::int64_t i, InsideSums& sums) const {
    KOKKOS_IF_ON_HOST((scan_some(i * at_once, std::min((i + 1) * at_once, stretches()), sums);))
  }
  KOKKOS_FUNCTION void init(InsideSums& sums) const { sums = InsideSums{}; }
  KOKKOS_FUNCTION void join(InsideSums& into, const InsideSums& from) const { into += from; }

 private:
  [[nodiscard]] std::int64_t stretches() const { return rows.ny * per_row; }

  void scan_some(std::int64_t first, std::int64_t past, InsideSums& sums) const {
    alignas(64) T tails[many + stretch + 64];
    alignas(64) T window[many + stretch + 64];
    HostLists<T> lists{tails, window};
    for (std::int64_t i = first; i < past; ++i) {
      scan(i, lists, sums);
      if (lists.in_tails > many || i + 1 == past) hand_over_tails(lists);
      if (lists.in_window > many || i + 1 == past) hand_over_window(lists, sums);
    }
  }

  void scan(std::int64_t i, HostLists<T>& lists, InsideSums& sums) const {
    const std::int64_t y = i / per_row;
    const std::int64_t x = i % per_row * stretch;
    const std::int64_t n = rows.nx - x < stretch ? rows.nx - x : stretch;
    const T* const pixels = rows.data + y * rows.pitch + x;
    const bool marks = mask.words != nullptr;
    alignas(64) std::uint64_t words[BorderlinePixels<T>::most_words];
    const T* const tails = lists.tails + lists.in_tails;
    HostScanSums found;
    scan_on_host(best_host_level(),
                 HostScan<T>{brackets.low_edge, brackets.high_edge, brackets.window_low,
                             brackets.window_high, brackets.centre, brackets.grid.centre,
                             brackets.grid.scale, brackets.candidate},
                 pixels, n, found, lists, marks ? words : nullptr);
    sums.inside += found.inside;
    sums.below += found.below;
    sums.sum.add(unbias(found.sum, n));
    sums.squares.add(unbias(found.squares, n));
    if (!marks) return;
    const std::int64_t first_word = (mask.first_row + y) * mask.per_row + x / 64;
    write_words(mask.words, mask.lines, first_word, words, (n + 63) / 64);
    if (may_have_borderline(tails, lists.tails + lists.in_tails))
      borderline.append(pixels, n, words, mask.words + first_word, brackets.certain);
  }

  /// Where candidates lie beyond the edges, those of a stretch are among its tails.
  [[nodiscard]] bool may_have_borderline(const T* tails, const T* end) const {
    if (!(brackets.candidate < brackets.certain) || borderline.is_full()) return false;
    if (brackets.has_candidate == 0) return true;
    int any = 0;
    for (; tails != end; ++tails)
      any |= ((*tails > brackets.candidate) & (*tails <= brackets.certain)) ? 1 : 0;
    return any != 0;
  }

  void hand_over_tails(HostLists<T>& lists) const {
    if (lists.in_tails > 0) gathered.append_to_tails(lists.tails, lists.in_tails);
    lists.in_tails = 0;
  }
  /// Without the spikes, which are counted.
  void hand_over_window(HostLists<T>& lists, InsideSums& sums) const {
    if (brackets.spikes > 0)
      lists.in_window = take_out_on_host(best_host_level(), brackets.spike, brackets.spikes,
                                         lists.window, lists.in_window, sums.spike);
    if (lists.in_window > 0) gathered.append_to_window(lists.window, lists.in_window);
    lists.in_window = 0;
  }
};

}  // namespace kastor::detail

#endif
