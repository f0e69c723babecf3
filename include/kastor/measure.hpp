// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_HPP
#define KASTOR_MEASURE_HPP

#include <kastor/catalogue.hpp>
#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <memory>
#include <span>

namespace kastor {

/// Measures the components of an image: number of pixels, bounding box, peak and its pixel, sum and
/// flux-weighted centre. The cost is two reads of the foreground pixels, whatever the number of
/// components.
///
/// A run is summed from left to right in double. The runs of a component are added as integers, on
/// a grid that is set by the component's own largest pixel and longest run. So neither the order
/// nor other components can change a bit. The error of a sum, beside rounding within a run, is
/// below 2^-61 of (largest |pixel|) x (longest run) for each run. Owns its work space. Use one
/// object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class Measurer {
 public:
  /// Work space is allocated by the first calls.
  explicit Measurer(const Exec& space);
  ~Measurer();
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;

  /// Returns the rows, in the memory of Exec. They belong to this object, and its next call
  /// overwrites them. Enqueues only. \throws Error if image and labels differ in shape.
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      const ConstImage<T, Exec>& image, const RunLabels<Exec>& labels);
  /// The same for an image in bands of whole rows.
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels);
  /// The same for any View that keeps the layout contract.
  template <AnyView V>
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      const V& image, const RunLabels<Exec>& labels) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), labels);
  }

  /// For labels that have only been enqueued (`Labeller::enqueue`): takes the number of runs and
  /// components from `counts`, in the memory of Exec, and writes the rows to memory that the host
  /// reads. Enqueues only. After a fence, call `finish` with the number of components. If it
  /// returns false, there were more components than rows; there is now room for them, and the
  /// caller must enqueue again. `rows()` are those of the last `finish`; the next `enqueue`
  /// overwrites them.
  void enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts);
  /// Completes `enqueue` after a fence; true if there was room for all rows.
  [[nodiscard]] bool finish(std::int64_t components);
  /// The rows of the last `finish`, in host memory.
  [[nodiscard]] std::span<const Source> rows() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// Copies the rows to the host. Fences `space`.
template <class Exec>
[[nodiscard]] Catalogue to_host(
    const Exec& space, const Kokkos::View<const Source*, typename Exec::memory_space>& rows);

/// One-shot form for any View that keeps the layout contract. Fences `space`.
template <class Exec, class V>
[[nodiscard]] Catalogue measure(const Exec& space, const V& image, const RunLabels<Exec>& labels) {
  Measurer<Exec, PixelOf<Exec, V>> measurer(space);
  return to_host<Exec>(space, measurer(as_const_image<Exec>(image), labels));
}

}  // namespace kastor

#endif
