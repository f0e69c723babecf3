// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_LABEL_HPP
#define KASTOR_LABEL_HPP

#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/threshold.hpp>
#include <memory>

namespace kastor {

namespace detail {

/// One row of a bit mask, and where its runs begin.
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
  /// Runs that begin in the word of x, at or before x.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t starts_up_to(std::int64_t x) const {
    const std::uint64_t up_to = ~std::uint64_t{0} >> (63 - x % 64);
    return static_cast<std::uint32_t>(
        Kokkos::Experimental::popcount_builtin(starts(x / 64) & up_to));
  }
};

}  // namespace detail

/// Which neighbours belong together: 4 share an edge, 8 share an edge or a corner.
enum class Connectivity { four = 4, eight = 8 };

/// What becomes a component.
struct LabelParams {
  Connectivity connectivity = Connectivity::four;
  /// Smaller components become background, the rest is renumbered 1..N.  [>= 1]
  std::int64_t min_pixels = 1;
  bool drop_at_edge = false;  ///< so do components that touch the border of the mask
};

/// The runs of a mask (stretches of foreground pixels along a row, in raster order) and the
/// component of each: all that labelling has to say, in space proportional to the number of runs.
/// Views are shallow: they belong to the labeller that made them and are overwritten by its next
/// call.
template <class Exec>
struct RunLabels {
  /// A list in the memory of Exec; it may be longer than what it holds.
  template <class T>
  using List = Kokkos::View<T*, typename Exec::memory_space>;

  std::int64_t ny = 0;                 ///< rows of the mask [pixel]
  std::int64_t nx = 0;                 ///< columns of the mask [pixel]
  std::int64_t runs = 0;               ///< of the whole mask
  std::int64_t components = 0;         ///< that are labelled
  std::int64_t dropped = 0;            ///< components that became background
  std::int64_t foreground_pixels = 0;  ///< of the mask, dropped components included
  List<std::int32_t> begin;            ///< x of a run's first pixel
  List<std::int32_t> end;              ///< x after its last pixel
  List<std::int32_t> row;              ///< y of the run
  /// 1..components in raster order of each component's first pixel; 0: dropped
  List<std::uint32_t> label;
  List<std::uint32_t> first_run;  ///< (components) run that holds the component's first pixel
  BitMask<Exec> mask;             ///< the mask that was labelled
  /// (words + 1) number of runs that begin before each word of the mask, and the number of all
  List<std::uint32_t> first_in_word;

  /// The label of pixel (y, x), 0 for background: O(1) from the mask.
  [[nodiscard]] KOKKOS_FUNCTION std::uint32_t at(std::int64_t y, std::int64_t x) const {
    const detail::MaskRow bits{&mask.words(y, 0)};
    if (!bits.test(x)) return 0;
    return label(first_in_word(y * ((nx + 63) / 64) + x / 64) + bits.starts_up_to(x) - 1);
  }
};

/// What labelling counts, as kernels keep it.
struct LabelCounts {
  std::uint64_t runs = 0;
  std::uint64_t pixels = 0;  ///< of the foreground
  std::uint32_t components = 0;
  std::uint32_t dropped = 0;
};

/// Connected components by union-find over the runs of a bit mask. Labels are those of
/// `scipy.ndimage.label`: 1..N in raster order of each component's first pixel, on every backend
/// and for any number of threads. Cost: one read of the mask (1 bit per pixel) and work
/// proportional to the number of runs.
///
/// Links always point to the smaller run, so the root of a component is its first run whatever the
/// order of the unions (as in ECL-CC, Jaiganesh and Burtscher, HPDC 2018; run-based labelling as in
/// He, Chao and Suzuki, IEEE TIP 2008). Owns its work space; one object per instance, not shared
/// between threads.
template <class Exec>
class Labeller {
 public:
  /// \throws Error if a parameter is out of its range.
  explicit Labeller(const Exec& space, const LabelParams& params = {});
  ~Labeller();
  Labeller(Labeller&&) noexcept;
  Labeller& operator=(Labeller&&) noexcept;

  /// Fences the instance given at construction. \throws Error beyond 2^32 - 2 runs or 2^31 - 1 rows
  /// or columns.
  const RunLabels<Exec>& operator()(const BitMask<Exec>& mask);
  /// The same, and components without a bit of `seeds` among their own pixels become background
  /// too (hysteresis). \throws Error if the masks differ in shape.
  const RunLabels<Exec>& operator()(const BitMask<Exec>& mask, const BitMask<Exec>& seeds);

  /// The same in two steps, for those who have more to enqueue before they fence. `enqueue` only
  /// enqueues: until `finish`, the numbers of `labels()` are 0 and those at `counts()`, in the
  /// memory of Exec, are the true ones. `finish` is for after a fence. False: the mask has more
  /// runs than the work space had room for, which is now larger; everything enqueued since is to be
  /// enqueued again. Only the number of runs is true then, there are no components, and the lists
  /// hold nothing that kernels could use.
  void enqueue(const BitMask<Exec>& mask);
  /// The same with seeds.
  void enqueue(const BitMask<Exec>& mask, const BitMask<Exec>& seeds);
  /// After a fence: true if all had room.
  [[nodiscard]] bool finish();
  /// What the last call found, overwritten by the next one.
  [[nodiscard]] const RunLabels<Exec>& labels() const;
  /// The numbers of the last `enqueue`, in the memory of Exec.
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

/// For any View of such labels that keeps the layout contract.
template <class Exec, AnyView V>
requires(!detail::is_label_image_v<Exec, V>)  //
    void write_labels(const Exec& space, const RunLabels<Exec>& labels, const V& image) {
  write_labels(space, labels, detail::as_label_image<Exec>(image));
}

}  // namespace kastor

#endif
