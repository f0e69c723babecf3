// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_ARRAYS_HPP
#define KASTOR_PYTHON_ARRAYS_HPP

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/threshold.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/run/backends.hpp"

namespace kastor::python {

namespace nb = nanobind;

/// A 2-D array of numbers as Python gives it: on the host or on a GPU, of any type.
using GivenArray = nb::ndarray<nb::ro, nb::ndim<2>>;

/// Whether the pixels are in memory of a GPU.
[[nodiscard]] bool is_on_device(const GivenArray& array);

/// Rows of pixels that are used where they are. \throws nb::type_error unless the array is of
/// float32 or float64 with contiguous rows
template <class T>
struct PixelRows {
  const T* data = nullptr;
  std::int64_t ny = 0, nx = 0;
  std::int64_t pitch = 0;  ///< from one row to the next [pixel]

  /// As a View in the memory of `Exec`. It does not own the pixels.
  template <class Exec>
  [[nodiscard]] ConstImage<T, Exec> view() const {
    const auto width = static_cast<std::size_t>(ny > 1 ? pitch : nx);
    const ConstImage<T, Exec> rows(data, static_cast<std::size_t>(ny), width);
    return Kokkos::subview(rows, Kokkos::ALL,
                           Kokkos::make_pair(std::size_t{0}, static_cast<std::size_t>(nx)));
  }
};
[[nodiscard]] bool is_double(const GivenArray& array);
template <class T>
[[nodiscard]] PixelRows<T> rows_of(const GivenArray& array) {
  return {static_cast<const T*>(array.data()), static_cast<std::int64_t>(array.shape(0)),
          static_cast<std::int64_t>(array.shape(1)), array.stride(0)};
}

/// Rows of the host in memory that `Exec` can read: the rows themselves, or a copy on the device.
/// Kokkos copies to a device only what is contiguous, so rows with gaps are copied together first.
template <class Exec, class View>
[[nodiscard]] auto rows_on(const Exec& space, const View& host) {
  if constexpr (!is_host_space_v<Exec>) {
    if (!host.span_is_contiguous()) {
      const io::HostPixels<typename View::non_const_value_type> together(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::python::rows"), host.extent(0),
          host.extent(1));
      Kokkos::deep_copy(together, host);
      return cli::readable_on(space, together);
    }
  }
  return cli::readable_on(space, host);
}

/// The pixels of a host array as an image without a header, which does not own them.
/// \param name  what messages call it
[[nodiscard]] io::FitsImage image_of(const GivenArray& array, const std::string& name);

/// The words of an array that holds numbers in the byte order of FITS, or integers: converted as
/// `io::read_image()` converts pixels of that type, into new memory.
/// \param type  "f4", "f8", "i2", "i4", "i8", "u1", "u2", "u4" or "u8"
[[nodiscard]] nb::object decoded(const GivenArray& words, const std::string& type, bool is_big);

/// The pixels that are not 0 in an array of bytes, as bits. \throws nb::value_error unless it has
/// ny x nx pixels
[[nodiscard]] BitMask<Kokkos::DefaultHostExecutionSpace> bits_of(const GivenArray& bytes,
                                                                 std::int64_t ny, std::int64_t nx);

/// A vector as a NumPy array that owns it.
template <class Value>
[[nodiscard]] nb::object as_array(std::vector<Value> values) {
  auto* const owner = new std::vector<Value>(std::move(values));
  const nb::capsule capsule(
      owner, [](void* vector) noexcept { delete static_cast<std::vector<Value>*>(vector); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(owner->data(), {owner->size()}, capsule));
}

/// Rows of values in plain memory. Arrays of Python own it for longer than Kokkos runs, so it is no
/// View.
template <class Value>
struct HostMap {
  std::shared_ptr<Value[]> values;
  std::size_t ny = 0, nx = 0;
};
/// \param view  contiguous, in memory of the host
template <class View>
[[nodiscard]] auto copy_of(const View& view) {
  using Value = typename View::non_const_value_type;
  HostMap<Value> map{std::make_shared_for_overwrite<Value[]>(view.size()), view.extent(0),
                     view.extent(1)};
  std::memcpy(map.values.get(), view.data(), view.size() * sizeof(Value));
  return map;
}
template <class Value>
[[nodiscard]] nb::object as_array(const HostMap<Value>& map) {
  auto* const owner = new std::shared_ptr<Value[]>(map.values);
  const nb::capsule capsule(
      owner, [](void* held) noexcept { delete static_cast<std::shared_ptr<Value[]>*>(held); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(owner->get(), {map.ny, map.nx}, capsule));
}

}  // namespace kastor::python

#endif
