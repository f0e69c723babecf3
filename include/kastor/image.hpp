// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IMAGE_HPP
#define KASTOR_IMAGE_HPP

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/error.hpp>
#include <span>
#include <type_traits>

/// The four contracts of every Kastor function.
///
/// 1. Layout: an image is a rank-2 `Kokkos::View<T**, Kokkos::LayoutRight>` indexed `(y, x)`, x
///    fastest, on every backend. Rows may be padded, so a subview by two ranges is an image too.
///    The centre of pixel (0,0) is at (0,0).
/// 2. Execution: the execution space *instance* is the first argument; kernels, copies and fences
///    use only that instance. Functions that fill Views only enqueue; functions that return host
///    values fence the instance.
/// 3. Memory: inputs are never resized, copied or converted. Work space lives in plan objects,
///    which grow to the largest image seen and then allocate nothing more.
/// 4. Results: the same bits on every backend, for any number of threads and any split into bands
///    of whole rows. NaN and infinite pixels are blank: they are counted, but enter no statistic
///    and are never foreground.
namespace kastor {

/// A read-only image that `Exec` can access: shallow, unmanaged, rows possibly padded.
template <class T, class Exec>
using ConstImage = Kokkos::View<const T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same, writable.
template <class T, class Exec>
using MutableImage = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                  Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// An owning image in the memory of `Exec`.
template <class T, class Exec>
using Image = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// One image as consecutive bands of whole rows of equal width, in order of increasing y. The split
/// into bands never changes a bit of a result.
template <class T, class Exec>
using Bands = std::span<const ConstImage<T, Exec>>;

/// Pixel types that the library is compiled for.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Any `Kokkos::View`. If it breaks the layout contract, a `static_assert` message says how.
template <class V>
concept AnyView = Kokkos::is_view_v<V>;

/// A `Kokkos::View` that keeps the layout contract.
template <class V>
concept ImageView =
    AnyView<V> && V::rank == 2 && Real<typename V::non_const_value_type>&&
                                      std::same_as<typename V::array_layout, Kokkos::LayoutRight>;

/// Whether the host can access the memory of `Exec` directly.
template <class Exec>
inline constexpr bool is_host_space_v =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

namespace detail {

/// Checks the layout contract for a View of any pixel type, with `static_assert` messages; false if
/// it is broken.
template <class Exec, class V>
constexpr bool is_raster_for() {
  constexpr bool has_space = Kokkos::is_execution_space_v<Exec>;
  static_assert(has_space, "kastor: the first argument must be an execution space instance");
  static_assert(!has_space || is_backend_v<Exec>,
                "kastor: the library was not compiled for this execution space");
  static_assert(AnyView<V>, "kastor: the image must be a Kokkos::View");
  if constexpr (has_space && AnyView<V>) {
    constexpr bool is_right = std::same_as<typename V::array_layout, Kokkos::LayoutRight>;
    constexpr bool is_near = Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible;
    static_assert(V::rank == 2, "kastor: the image must be a rank-2 View, indexed (y, x)");
    static_assert(
        V::rank != 2 || is_right,
        "kastor: the image must be a Kokkos::LayoutRight View (x fastest), on every backend");
    static_assert(is_near, "kastor: the execution space cannot reach the memory of the image");
    return is_backend_v<Exec> && V::rank == 2 && is_right && is_near;
  }
  return false;
}

/// The same, and the pixels must be float or double.
template <class Exec, class V>
constexpr bool is_image_for() {
  if constexpr (is_raster_for<Exec, V>()) {
    static_assert(Real<typename V::non_const_value_type>,
                  "kastor: the pixels must be float or double");
    return Real<typename V::non_const_value_type>;
  }
  return false;
}

/// float if the contract is broken, so that the `static_assert` message is the only error.
template <class Exec, class V, bool good = is_image_for<Exec, V>()>
struct PixelOf {
  using type = float;
};
template <class Exec, class V>
struct PixelOf<Exec, V, true> {
  using type = typename V::non_const_value_type;
};

/// Converts a View to the type `Shallow`, with the same pointer and pitch.
template <class Shallow, class V>
[[nodiscard]] Shallow as_shallow(const V& view) {
  if constexpr (std::is_same_v<typename V::memory_space, typename Shallow::memory_space>) {
    return Shallow(view);
  } else {
    // Memory of another space that is accessible (pinned or managed).
    const auto pitch = view.extent(0) > 1 ? view.stride(0) : view.extent(1);
    const Kokkos::View<typename Shallow::data_type, Kokkos::LayoutRight,
                       typename Shallow::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        rows(view.data(), view.extent(0), pitch);
    return Kokkos::subview(rows, Kokkos::ALL, Kokkos::make_pair(std::size_t{0}, view.extent(1)));
  }
}

}  // namespace detail

/// The pixel type of a View on which `Exec` is to work.
template <class Exec, class V>
using PixelOf = typename detail::PixelOf<Exec, V>::type;

/// The canonical, shallow form of a View: the only type per (pixel, space) for which kernels are
/// compiled.
template <class Exec, class V>
[[nodiscard]] ConstImage<PixelOf<Exec, V>, Exec> as_const_image(const V& view) {
  if constexpr (detail::is_image_for<Exec, V>()) {
    return detail::as_shallow<ConstImage<PixelOf<Exec, V>, Exec>>(view);
  } else {
    return {};
  }
}

/// The same for a View that is to be filled.
template <class Exec, class V>
[[nodiscard]] MutableImage<PixelOf<Exec, V>, Exec> as_mutable_image(const V& view) {
  if constexpr (detail::is_image_for<Exec, V>()) {
    constexpr bool is_const = std::is_const_v<typename V::value_type>;
    static_assert(!is_const, "kastor: the image to be filled must not have const pixels");
    if constexpr (!is_const) {
      return detail::as_shallow<MutableImage<PixelOf<Exec, V>, Exec>>(view);
    }
  }
  return {};
}

namespace detail {

/// The memory space that kernels of `Exec` write and the host reads after a fence, without a copy.
template <class Exec>
using HostReadable = std::conditional_t<is_host_space_v<Exec>, typename Exec::memory_space,
                                        Kokkos::SharedHostPinnedSpace>;

/// A View as an image of pixels of type T, that of the plan or the map.
template <class T, class Exec, class V>
[[nodiscard]] ConstImage<T, Exec> as_const_image_of(const V& view) {
  if constexpr (is_image_for<Exec, V>()) {
    constexpr bool fits = std::same_as<T, typename V::non_const_value_type>;
    static_assert(fits, "kastor: all images of one call or plan must have the same pixel type");
    if constexpr (fits) return as_const_image<Exec>(view);
  }
  return {};
}

template <class T, class Exec, class V>
[[nodiscard]] MutableImage<T, Exec> as_mutable_image_of(const V& view) {
  if constexpr (is_image_for<Exec, V>()) {
    constexpr bool fits = std::same_as<T, typename V::non_const_value_type>;
    static_assert(fits, "kastor: all images of one call or plan must have the same pixel type");
    if constexpr (fits) return as_mutable_image<Exec>(view);
  }
  return {};
}

/// An image of labels.
template <class Label, class Exec>
using LabelImage = Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>;

template <class Exec, class V>
inline constexpr bool is_label_image_v = false;
template <class Exec, class Label>
inline constexpr bool is_label_image_v<
    Exec, Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>> = true;

/// A View as an image of int32 or int64 labels; an empty one of int32 if it is neither.
template <class Exec, class V>
[[nodiscard]] auto as_label_image(const V& view) {
  if constexpr (is_raster_for<Exec, V>()) {
    using Label = typename V::value_type;
    constexpr bool is_label =
        std::same_as<Label, std::int32_t> || std::same_as<Label, std::int64_t>;
    static_assert(is_label, "kastor: the labels must be std::int32_t or std::int64_t, not const");
    if constexpr (is_label) {
      return as_shallow<LabelImage<Label, Exec>>(view);
    } else {
      return LabelImage<std::int32_t, Exec>();
    }
  } else {
    return LabelImage<std::int32_t, Exec>();
  }
}

/// The rows of a band, as kernels access them.
template <class T>
struct Rows {
  const T* data = nullptr;
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::int64_t pitch = 0;
};

template <class T, class Exec>
[[nodiscard]] Rows<T> rows_of(const ConstImage<T, Exec>& image) {
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  // The stride of a View with fewer than two rows is not meaningful.
  return {image.data(), ny, nx, ny > 1 ? static_cast<std::int64_t>(image.stride(0)) : nx};
}

/// A list of values as an image of a single row.
template <class T, class Exec, class List>
[[nodiscard]] ConstImage<T, Exec> as_one_row(const List& list, std::int64_t count) {
  return ConstImage<T, Exec>(list.data(), 1, static_cast<std::size_t>(count));
}

struct Shape {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
};

/// The shape of the image that consists of these bands. \throws Error if their widths differ.
template <class T, class Exec>
[[nodiscard]] Shape shape_of(const char* function, Bands<T, Exec> bands) {
  Shape shape;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    if (shape.ny == 0) shape.nx = rows.nx;
    KASTOR_EXPECTS(function, rows.nx == shape.nx,
                   "a band is " + std::to_string(rows.nx) + " pixels wide; expected " +
                       std::to_string(shape.nx) + ", as the bands above it");
    shape.ny += rows.ny;
  }
  return shape;
}

}  // namespace detail
}  // namespace kastor

#endif
