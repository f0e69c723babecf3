// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_BLANKS_HPP
#define KASTOR_CONVOLVE_BLANKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/image.hpp>

#include "core/interval.hpp"
#include "core/writable_rows.hpp"

/// NanTreatment::interpolate: convolves the image with its blank pixels set to 0, and in the same
/// way weights, which are 0 where pixels are blank.
namespace kastor::detail {

/// Finite pixels keep their value and have weight 1; the others become 0 with weight 0. The weights
/// have a margin of ones, since the zeros beyond the image are valid pixels.
template <class T>
struct SplitBlanks {
  Rows<T> image;
  T* values;
  T* weights;
  std::int64_t margin_y, margin_x;

  [[nodiscard]] std::int64_t weights_ny() const { return image.ny + 2 * margin_y; }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t weights_nx() const { return image.nx + 2 * margin_x; }

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / weights_nx() - margin_y;
    const std::int64_t x = i % weights_nx() - margin_x;
    const bool inside = y >= 0 && y < image.ny && x >= 0 && x < image.nx;
    const T pixel = inside ? image.data[y * image.pitch + x] : T{0};
    const bool finite = core::is_finite(pixel);
    weights[i] = finite ? T{1} : T{0};
    if (inside) values[y * image.nx + x] = finite ? pixel : T{0};
  }
};

/// result *= sum_of_taps / weight; NaN where the weight is 0.
template <class T>
struct Renormalise {
  core::WritableRows<T> result;
  const T* weights;
  T sum_of_taps;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t y = i / result.nx;
    T& pixel = result.data[y * result.pitch + i % result.nx];
    pixel = weights[i] == T{0} ? Kokkos::Experimental::quiet_NaN_v<T>
                               : pixel * (sum_of_taps / weights[i]);
  }
};

}  // namespace kastor::detail

#endif
