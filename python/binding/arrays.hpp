// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_ARRAYS_HPP
#define KASTOR_PYTHON_ARRAYS_HPP

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/threshold.hpp>
#include <string>
#include <utility>
#include <vector>

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

/// A vector or View as a NumPy array that owns it.
template <class Value>
[[nodiscard]] nb::object as_array(std::vector<Value> values) {
  auto* const owner = new std::vector<Value>(std::move(values));
  const nb::capsule capsule(
      owner, [](void* vector) noexcept { delete static_cast<std::vector<Value>*>(vector); });
  return nb::cast(nb::ndarray<nb::numpy, Value>(owner->data(), {owner->size()}, capsule));
}
template <class Value>
[[nodiscard]] nb::object as_array(const io::HostPixels<Value>& view) {
  using View = io::HostPixels<Value>;
  auto* const owner = new View(view);
  const nb::capsule capsule(owner, [](void* held) noexcept { delete static_cast<View*>(held); });
  return nb::cast(
      nb::ndarray<nb::numpy, Value>(owner->data(), {view.extent(0), view.extent(1)}, capsule));
}

}  // namespace kastor::python

#endif
