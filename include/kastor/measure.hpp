// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_MEASURE_HPP
#define KASTOR_MEASURE_HPP

#include <kastor/catalogue.hpp>
#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <memory>
#include <span>

namespace kastor {

/// Measures the components of an image: pixel count, bounding box, peak and its pixel, sum,
/// flux-weighted centre. Cost: two reads of the foreground pixels, whatever the number of
/// components.
///
/// A run is summed left to right in double; the runs of a component are added as integers on a grid
/// set by the component's own largest pixel and longest run, so no order and no other component can
/// change a bit. Error of a sum: below 2^-61 of (largest |pixel|) x (longest run) per run, besides
/// the rounding inside a run. Owns its work space; one object per instance, not shared between
/// threads.
template <class Exec, Real T>
class Measurer {
 public:
  /// The work space comes with the first calls.
  explicit Measurer(const Exec& space);
  ~Measurer();
  Measurer(Measurer&&) noexcept;
  Measurer& operator=(Measurer&&) noexcept;

  /// The rows in the memory of Exec; they belong to this object and are overwritten by its next
  /// call. Enqueues only. \throws Error if image and labels differ in shape.
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      const ConstImage<T, Exec>& image, const RunLabels<Exec>& labels);
  /// The same of an image in bands of whole rows.
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      Bands<T, Exec> bands, const RunLabels<Exec>& labels);
  /// For any View that keeps the layout contract.
  template <AnyView V>
  Kokkos::View<const Source*, typename Exec::memory_space> operator()(
      const V& image, const RunLabels<Exec>& labels) {
    return (*this)(detail::as_const_image_of<T, Exec>(image), labels);
  }

  /// For labels that are still being made, as `Labeller::enqueue` leaves them: takes the numbers of
  /// runs and components from `counts`, in the memory of Exec, and writes the rows where the host
  /// reads them. Enqueues only. `finish` is for after a fence, with the number of components.
  /// False: there were more than there was room for, which is now larger; enqueue again. `rows()`
  /// are those of the last `finish`, overwritten by the next `enqueue`.
  void enqueue(Bands<T, Exec> bands, const RunLabels<Exec>& labels, const LabelCounts* counts);
  /// After a fence: true if all had room.
  [[nodiscard]] bool finish(std::int64_t components);
  /// On the host, of the last `finish`.
  [[nodiscard]] std::span<const Source> rows() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// Rows on the host. Fences `space`.
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
