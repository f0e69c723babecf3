// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IMAGE_HPP
#define KASTOR_IMAGE_HPP

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <kastor/error.hpp>
#include <span>
#include <type_traits>

/// The four contracts of every Kastor function.
///
/// 1. Layout: an image is a rank-2 `Kokkos::View<T**, Kokkos::LayoutRight>` indexed `(y, x)`, x
/// fastest, on every
///    backend; rows may be padded, so a cut-out by two ranges is an image too. The centre of pixel
///    (0,0) is at (0,0).
/// 2. Execution: the execution space *instance* comes first; kernels, copies and fences use that
/// instance alone.
///    Functions that fill Views only enqueue; functions that return host values fence the instance.
/// 3. Memory: inputs are never resized, copied or converted. Work space lives in plan objects,
/// which grow to the largest
///    image seen and then allocate no more.
/// 4. Answers: the same bits on every backend, for any number of threads, for any split into bands
/// of whole rows.
///    NaN and infinities are blank pixels: in no statistic, never foreground, counted.
namespace kastor {

/// A read-only image that `Exec` can reach: shallow, unmanaged, rows possibly padded.
template <class T, class Exec>
using ConstImage = Kokkos::View<const T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same, to be written to.
template <class T, class Exec>
using MutableImage = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space,
                                  Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// An owning image in the memory of `Exec`.
template <class T, class Exec>
using Image = Kokkos::View<T**, Kokkos::LayoutRight, typename Exec::memory_space>;

/// One image as consecutive bands of whole rows, from the top (y = 0) down; all of one width.
/// Every algorithm folds over the bands, and the split never changes a bit of the answer.
template <class T, class Exec>
using Bands = std::span<const ConstImage<T, Exec>>;

/// Pixel types that the library is compiled for.
template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;

/// Any `Kokkos::View` that keeps the layout contract.
template <class V>
concept ImageView = Kokkos::is_view_v<V> && V::rank == 2 && Real<typename V::non_const_value_type>;

/// The host can work on the memory of `Exec` directly.
template <class Exec>
inline constexpr bool is_host_space_v =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;

/// The canonical, shallow form of a user's View: the one type per (pixel, space) that kernels are
/// compiled for.
template <class Exec, class V>
[[nodiscard]] ConstImage<typename V::non_const_value_type, Exec> as_const_image(const V& view) {
  static_assert(Kokkos::is_view_v<V>, "kastor: the image must be a Kokkos::View");
  static_assert(V::rank == 2, "kastor: the image must be a rank-2 View, indexed (y, x)");
  static_assert(
      std::is_same_v<typename V::array_layout, Kokkos::LayoutRight>,
      "kastor: the image must be a Kokkos::LayoutRight View (x fastest), on every backend");
  static_assert(Real<typename V::non_const_value_type>,
                "kastor: the pixels must be float or double");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible,
                "kastor: the execution space cannot reach the memory of the image");
  using T = typename V::non_const_value_type;
  if constexpr (std::is_same_v<typename V::memory_space, typename Exec::memory_space>) {
    return ConstImage<T, Exec>(view);
  } else {
    // Reachable memory of another space (pinned or managed): keep the pointer and the pitch.
    const auto pitch = view.stride(0) == 0 ? view.extent(1) : view.stride(0);
    const ConstImage<T, Exec> rows(view.data(), view.extent(0), pitch);
    return Kokkos::subview(rows, Kokkos::ALL, Kokkos::make_pair(std::size_t{0}, view.extent(1)));
  }
}

namespace detail {

/// Memory that kernels of `Exec` write and the host reads after a fence, without a copy.
template <class Exec>
using HostReadable = std::conditional_t<is_host_space_v<Exec>, typename Exec::memory_space,
                                        Kokkos::SharedHostPinnedSpace>;

/// Rows of a band as kernels see them.
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
  // Kokkos gives no useful stride for fewer than two rows.
  return {image.data(), ny, nx, ny > 1 ? static_cast<std::int64_t>(image.stride(0)) : nx};
}

/// A list of values as an image of one row.
template <class T, class Exec, class List>
[[nodiscard]] ConstImage<T, Exec> as_one_row(const List& list, std::int64_t count) {
  return ConstImage<T, Exec>(list.data(), 1, static_cast<std::size_t>(count));
}

struct Shape {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
};

/// The shape of the image that the bands make up. \throws Error if their widths differ.
template <class T, class Exec>
[[nodiscard]] Shape shape_of(const char* function, Bands<T, Exec> bands) {
  Shape shape;
  for (const auto& band : bands) {
    const Rows<T> rows = rows_of<T, Exec>(band);
    if (shape.ny == 0) shape.nx = rows.nx;
    KASTOR_EXPECTS(function, rows.nx == shape.nx,
                   "a band is " + std::to_string(rows.nx) + " pixels wide; expected " +
                       std::to_string(shape.nx) + " as the bands above it");
    shape.ny += rows.ny;
  }
  return shape;
}

}  // namespace detail
}  // namespace kastor

#endif
