// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_HPP
#define KASTOR_LABEL_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>
#include <memory>

namespace kastor {

namespace detail {

/// One row of a bit mask, with functions to find its runs.
struct MaskRow {
  const std::uint64_t* words;

  [[nodiscard]] KOKKOS_FUNCTION bool test(std::int64_t x) const {
    return (words[x / 64] >> (x % 64)) & 1;
  }
  /// Bits of word `w` whose left neighbour is background.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t starts(std::int64_t w) const {
    const std::uint64_t carry = w > 0 ? words[w - 1] >> 63 : 0;
    return words[w] & ~(words[w] << 1 | carry);
  }
};

}  // namespace detail

/// Which pixels are neighbours: 4: they share an edge; 8: they share an edge or a corner.
enum class Connectivity { four = 4, eight = 8 };

/// Which components are kept.
struct LabelParams {
  Connectivity connectivity = Connectivity::four;
  /// Smaller components become background; the others are numbered 1..N.  [>= 1]
  std::int64_t min_pixels = 1;
  bool drop_at_edge = false;  ///< components that touch the border of the mask become background
};

/// The result of labelling: the runs of a mask (consecutive foreground pixels of a row, in raster
/// order) and the component of each. Its size is proportional to the number of runs. The Views are
/// shared with the labeller, whose next call overwrites them.
template <class Exec>
struct RunLabels {
  /// A list in the memory of Exec; it may be longer than its contents.
  template <class T>
  using List = Kokkos::View<T*, typename Exec::memory_space>;

  std::int64_t ny = 0;                 ///< rows of the mask [pixel]
  std::int64_t nx = 0;                 ///< columns of the mask [pixel]
  std::int64_t runs = 0;               ///< number of runs in the mask
  std::int64_t components = 0;         ///< number of labelled components
  std::int64_t dropped = 0;            ///< number of components that became background
  std::int64_t foreground_pixels = 0;  ///< number of set bits, including dropped components
  List<std::int32_t> begin;            ///< x of the first pixel of a run
  List<std::int32_t> end;              ///< x of its last pixel + 1
  List<std::int32_t> row;              ///< y of a run
  /// 1..components in raster order of each component's first pixel; 0: dropped.
  List<std::uint32_t> label;
  /// (components) the run that contains the component's first pixel.
  List<std::uint32_t> first_run;
  BitMask<Exec> mask;  ///< the mask that was labelled
  /// (words + 1) number of runs that begin before each word of the mask; last, the number of all
  /// runs.
  List<std::uint32_t> first_in_word;
  /// Where runs begin, if some touch in their row, as those of a `Deblender` do; no words: wherever
  /// the left neighbour is background.
  BitMask<Exec> starts;

  /// The first pixels of runs in word w of row y, as bits.
  [[nodiscard]] KOKKOS_FUNCTION std::uint64_t starts_of(std::int64_t y, std::int64_t w) const {
    if (starts.words.data() != nullptr) return starts.words(y, w);
    return detail::MaskRow{&mask.words(y, 0)}.starts(w);
  }
  /// The label of pixel (y, x), 0 for background; O(1), from the mask.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t at(std::int64_t y, std::int64_t x) const {
    if (!detail::MaskRow{&mask.words(y, 0)}.test(x)) return 0;
    const std::uint64_t up_to = starts_of(y, x / 64) & ~std::uint64_t{0} >> (63 - x % 64);
    return label(first_in_word(y * ((nx + 63) / 64) + x / 64) +
                 static_cast<std::uint32_t>(Kokkos::Experimental::popcount_builtin(up_to)) - 1);
  }
};

/// Counters of labelling, as kernels update them.
struct LabelCounts {
  std::uint64_t runs = 0;
  std::uint64_t pixels = 0;  ///< foreground pixels
  std::uint32_t components = 0;
  std::uint32_t dropped = 0;
};

/// Finds connected components by union-find over the runs of a bit mask. Labels are those of
/// `scipy.ndimage.label`: 1..N in raster order of each component's first pixel, on every backend
/// and for any number of threads. The cost is one read of the mask (1 bit per pixel), plus work
/// proportional to the number of runs.
///
/// Links always point to the smaller run, so the root of a component is its first run, in whatever
/// order sets are united (as in ECL-CC, Jaiganesh and Burtscher, HPDC 2018; run-based labelling as
/// in He, Chao and Suzuki, IEEE TIP 2008). Owns its work space. Use one object per execution space
/// instance; do not share it between threads.
template <class Exec>
class Labeller {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit Labeller(const Exec& space, const LabelParams& params = {});
  ~Labeller();
  Labeller(Labeller&&) noexcept;
  Labeller& operator=(Labeller&&) noexcept;

  /// Fences the instance given at construction.
  /// \throws Error if there are more than 2^32 - 2 runs, 2^31 - 2 rows or columns.
  const RunLabels<Exec>& operator()(const BitMask<Exec>& mask);
  /// The same with hysteresis: components that contain no set bit of `seeds` become background too.
  /// \throws Error also if the masks differ in shape.
  const RunLabels<Exec>& operator()(const BitMask<Exec>& mask, const BitMask<Exec>& seeds);

  /// The same in two steps, for callers that enqueue more work before they fence. `enqueue` only
  /// enqueues. Until `finish`, the counts in `labels()` are 0; the true counts are at `counts()`,
  /// in the memory of Exec. Call `finish` after a fence. If it returns false, the mask has more
  /// runs than the work space could hold. The work space is then larger, and everything enqueued
  /// since must be enqueued again. Meanwhile only the number of runs is valid: there are no
  /// components, and kernels must not use the lists.
  void enqueue(const BitMask<Exec>& mask);
  /// The same with seeds.
  void enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seeds);
  /// Completes `enqueue` after a fence; true if the work space was large enough.
  [[nodiscard]] bool finish();
  /// The result of the last call; the next call overwrites it.
  [[nodiscard]] const RunLabels<Exec>& labels() const;
  /// The counters of the last `enqueue`, in the memory of Exec.
  [[nodiscard]] const LabelCounts* counts() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form; the result owns its Views.
template <class Exec>
[[nodiscard]] RunLabels<Exec> label(const Exec& space, const BitMask<Exec>& mask,
                                    Connectivity connectivity = Connectivity::four) {
  return Labeller<Exec>(space, LabelParams{connectivity, 1})(mask);
}

/// Writes the label of every pixel, 0 for background, into a (ny, nx) LayoutRight View of int32 or
/// int64. Enqueues only. \throws Error if the shape differs or the labels do not fit.
template <class Exec, class Label>
void write_labels(
    const Exec& space, const RunLabels<Exec>& labels,
    const Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>& image);

/// The same for any View of such labels that keeps the layout contract.
template <class Exec, AnyView V>
requires(!detail::is_label_image_v<Exec, V>)  //
    void write_labels(const Exec& space, const RunLabels<Exec>& labels, const V& image) {
  write_labels(space, labels, detail::as_label_image<Exec>(image));
}

}  // namespace kastor

#endif
