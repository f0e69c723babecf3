// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_CEILINGS_NAIVE_HPP
#define KASTOR_TESTS_CEILINGS_NAIVE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/ceilings_of_cells.hpp>
#include <kastor/pixel_ceilings.hpp>
#include <limits>
#include <vector>

#include "naive.hpp"

namespace testing_support {

/// The pixels that have a ceiling together with (y, x).
template <class T, class Visit>
void for_each_under_one_ceiling(const HostImage<T>& image, std::int64_t y, std::int64_t x,
                                const Visit& visit) {
  const std::int64_t first_y = y / 4 * 4 + y % 2, first_x = x / 16 * 16;
  for (const std::int64_t row : {first_y, first_y + 2}) {
    for (std::int64_t column = first_x; column < first_x + 16; ++column) {
      if (row < image.ny && column < image.nx) visit(image(row, column));
    }
  }
}

/// The largest of them; infinity if one is not finite.
template <class T>
T naive_ceiling(const HostImage<T>& image, std::int64_t y, std::int64_t x) {
  T largest = -std::numeric_limits<T>::infinity();
  for_each_under_one_ceiling(image, y, x, [&](T pixel) {
    largest = std::isfinite(pixel) ? std::max(largest, pixel) : std::numeric_limits<T>::infinity();
  });
  return largest;
}

/// As low as they can be, in their order.
template <class T>
std::vector<T> naive_ceilings(const HostImage<T>& image) {
  const kastor::detail::Shape shape{image.ny, image.nx};
  std::vector<T> values(static_cast<std::size_t>(kastor::detail::count_of_ceilings(shape)),
                        std::numeric_limits<T>::quiet_NaN());
  kastor::detail::CeilingsOfCells<T> places;
  places.values = values.data();
  places.stride = kastor::detail::ceiling_stride(image.nx);
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x)
      values[static_cast<std::size_t>(places.of(y, x) - values.data())] =
          naive_ceiling(image, y, x);
  }
  return values;
}

template <class Exec, class T>
kastor::PixelCeilings<Exec, T> to_device_ceilings(const HostImage<T>& image) {
  const std::vector<T> values = naive_ceilings(image);
  const Kokkos::View<T*, typename Exec::memory_space> list("test::ceilings", values.size());
  Kokkos::deep_copy(
      list, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                values.data(), values.size()));
  return {image.ny, image.nx, list};
}

}  // namespace testing_support

#endif
