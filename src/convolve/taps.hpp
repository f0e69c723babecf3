// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_TAPS_HPP
#define KASTOR_CONVOLVE_TAPS_HPP

#include <cstdint>
#include <kastor/convolution_kernel.hpp>
#include <kastor/convolve.hpp>
#include <type_traits>
#include <vector>

/// Prepares the taps of a convolution, on the host.
namespace kastor::detail {

template <class T>
inline constexpr double separable_tolerance = std::is_same_v<T, float> ? 0x1p-26 : 0x1p-50;

/// The taps in the form that the kernels use, on the host: mirrored, rounded to T.
template <class T>
struct Taps {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
  std::int64_t parts = 0;  ///< 0 for the direct form
  std::vector<T> values;   ///< direct: (ny, nx); else per part nx along x, then ny along y
  double kernel_error = 0;
};

template <class T>
void append_mirrored(std::vector<T>& list, const std::vector<double>& taps) {
  for (auto tap = taps.rbegin(); tap != taps.rend(); ++tap) list.push_back(static_cast<T>(*tap));
}

/// Depends on the kernel alone, so that every backend decides alike.
inline bool separable_pays(const ConvolutionKernel& kernel, const SeparableForm& form,
                           double tolerance) {
  const auto parts = static_cast<std::int64_t>(form.parts.size());
  const std::int64_t separable = parts * (kernel.ny + kernel.nx);
  const std::int64_t direct = kernel.ny * kernel.nx;
  return form.error <= tolerance && (parts == 1 ? separable < direct : 2 * separable <= direct);
}

template <class T>
[[nodiscard]] Taps<T> make_taps(const ConvolutionKernel& kernel, ConvolveMethod method) {
  Taps<T> taps;
  taps.ny = kernel.ny;
  taps.nx = kernel.nx;
  if (method != ConvolveMethod::direct) {
    const SeparableForm form = separable_form(kernel, separable_tolerance<T>);
    if (method == ConvolveMethod::separable ||
        separable_pays(kernel, form, separable_tolerance<T>)) {
      taps.parts = static_cast<std::int64_t>(form.parts.size());
      taps.kernel_error = form.error;
      for (const SeparablePart& part : form.parts) {
        append_mirrored(taps.values, part.along_x);
        append_mirrored(taps.values, part.along_y);
      }
      return taps;
    }
  }
  append_mirrored(taps.values, kernel.taps);
  return taps;
}

/// The result for an infinite image of ones, in the arithmetic of the convolution itself.
template <class T>
[[nodiscard]] T sum_of_taps(const Taps<T>& taps) {
  T sum = 0;
  if (taps.parts == 0) {
    for (const T tap : taps.values) sum += tap;
  }
  const T* tap = taps.values.data();
  for (std::int64_t part = 0; part < taps.parts; ++part) {
    T along_x = 0;
    for (std::int64_t j = 0; j < taps.nx; ++j) along_x += *tap++;
    for (std::int64_t t = 0; t < taps.ny; ++t) sum += *tap++ * along_x;
  }
  return sum;
}

}  // namespace kastor::detail

#endif
