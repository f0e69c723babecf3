// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/convolve.hpp>
#include <kastor/detail/instantiations.hpp>
#include <string>

#include "convolve/blanks.hpp"
#include "convolve/direct.hpp"
#include "convolve/separable.hpp"
#include "convolve/signal.hpp"
#include "convolve/taps.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"
#include "core/upload.hpp"

namespace kastor::detail {

/// Extent of the result along one axis, and the position of its first pixel in mode full.
struct ResultRange {
  std::int64_t begin;
  std::int64_t extent;
};
[[nodiscard]] inline ResultRange result_range(ConvolveMode mode, std::int64_t image,
                                              std::int64_t kernel) {
  switch (mode) {
    case ConvolveMode::same:
      return {(kernel - 1) / 2, image};
    case ConvolveMode::valid:
      return {std::min(image, kernel) - 1, std::max(image, kernel) - std::min(image, kernel) + 1};
    case ConvolveMode::full:
      break;
  }
  return {0, image + kernel - 1};
}

/// \throws Error if the sum of the taps is too small to divide by.
inline void check_sum_of_taps(const ConvolutionKernel& kernel) {
  double sum = 0;
  double magnitudes = 0;
  for (const double tap : kernel.taps) {
    sum += tap;
    magnitudes += std::abs(tap);
  }
  KASTOR_EXPECTS("kastor::Convolver", std::abs(sum) > 1e-6 * magnitudes,
                 "the taps add up to " + std::to_string(sum) +
                     ", so blank pixels cannot be interpolated; expected a kernel with a sum other "
                     "than 0, or NanTreatment::propagate");
}

/// \throws Error if image and result overlap in memory.
template <class T>
void check_apart(const Rows<T>& image, const core::WritableRows<T>& result) {
  const T* image_end = image.data + (image.ny - 1) * image.pitch + image.nx;
  const T* result_end = result.data + (result.ny - 1) * result.pitch + result.nx;
  KASTOR_EXPECTS("kastor::convolve", image_end <= result.data || result_end <= image.data,
                 "the image and the result share memory; expected two separate images");
}

}  // namespace kastor::detail

namespace kastor {

template <class Exec, Real T>
struct Convolver<Exec, T>::Plan {
  using List = Kokkos::View<T*, typename Exec::memory_space>;
  using Separable = detail::ConvolveSeparable<Exec, T>;
  using Direct = detail::ConvolveDirect<Exec, T>;

  Plan(const Exec& s, const ConvolutionKernel& kernel, const ConvolveParams& p)
      : space(s), params(p), taps(detail::make_taps<T>(kernel, p.method)) {
    device_taps = core::upload(space, "kastor::convolve::taps", taps.values);
    space.fence("kastor::convolve::taps");
  }

  [[nodiscard]] ImageShape result_shape(const ImageShape& image) const {
    if (image.ny <= 0 || image.nx <= 0) return {0, 0};
    KASTOR_EXPECTS(
        "kastor::convolve",
        params.mode != ConvolveMode::valid || (image.ny >= taps.ny && image.nx >= taps.nx) ||
            (image.ny <= taps.ny && image.nx <= taps.nx),
        "the image is " + std::to_string(image.ny) + " x " + std::to_string(image.nx) +
            " and the kernel " + std::to_string(taps.ny) + " x " + std::to_string(taps.nx) +
            " pixels; expected one that fits into the other, for mode valid");
    return {detail::result_range(params.mode, image.ny, taps.ny).extent,
            detail::result_range(params.mode, image.nx, taps.nx).extent};
  }

  void run(const ConstImage<T, Exec>& image_view, const MutableImage<T, Exec>& result_view) {
    const Kokkos::Profiling::ScopedRegion region("kastor::convolve");
    const auto image = detail::rows_of<T, Exec>(image_view);
    const auto result = core::writable_rows_of(result_view);
    const ImageShape wanted = result_shape({image.ny, image.nx});
    KASTOR_EXPECTS("kastor::convolve", result.ny == wanted.ny && result.nx == wanted.nx,
                   "the result is " + std::to_string(result.ny) + " x " +
                       std::to_string(result.nx) + " pixels; expected " +
                       std::to_string(wanted.ny) + " x " + std::to_string(wanted.nx));
    if (result.ny * result.nx == 0) return;
    detail::check_apart(image, result);
    const detail::TapOrigin origin{
        detail::result_range(params.mode, image.ny, taps.ny).begin - (taps.ny - 1),
        detail::result_range(params.mode, image.nx, taps.nx).begin - (taps.nx - 1)};
    if (params.nan == NanTreatment::propagate) {
      sum({image, result, origin, false});
    } else {
      interpolate({image, result, origin, false});
    }
  }

  void interpolate(const detail::Convolution<T>& c) {
    detail::SplitBlanks<T> split{c.image, nullptr, nullptr, taps.ny - 1, taps.nx - 1};
    const std::int64_t weights_count = split.weights_ny() * split.weights_nx();
    const std::int64_t result_count = c.result.ny * c.result.nx;
    core::grow(values, space, "kastor::convolve::values", c.image.ny * c.image.nx);
    core::grow(weights, space, "kastor::convolve::weights", weights_count);
    core::grow(result_weights, space, "kastor::convolve::result_weights", result_count);
    split.values = values.data();
    split.weights = weights.data();
    core::for_each("kastor::convolve::split_blanks", space, weights_count, split);
    sum({{values.data(), c.image.ny, c.image.nx, c.image.nx}, c.result, c.origin, false});
    sum({{weights.data(), split.weights_ny(), split.weights_nx(), split.weights_nx()},
         {result_weights.data(), c.result.ny, c.result.nx, c.result.nx},
         {c.origin.y + split.margin_y, c.origin.x + split.margin_x},
         false});
    core::for_each("kastor::convolve::renormalise", space, result_count,
                   detail::Renormalise<T>{c.result, result_weights.data(), all_taps});
  }

  void sum(const detail::Convolution<T>& c) {
    if (taps.parts == 0)
      return sum_direct("kastor::convolve::direct", c, device_taps.data(),
                        static_cast<int>(taps.ny), static_cast<int>(taps.nx));
    for (std::int64_t part = 0; part < taps.parts; ++part) {
      const T* part_taps = device_taps.data() + part * (taps.nx + taps.ny);
      sum_part({c.image, c.result, c.origin, part > 0}, part_taps, part_taps + taps.nx);
    }
  }

  /// Sums along x and y in one kernel, or in two if there are so many taps that no tile fits.
  void sum_part(const detail::Convolution<T>& c, const T* taps_x, const T* taps_y) {
    const int nx = static_cast<int>(taps.nx);
    const int ny = static_cast<int>(taps.ny);
    if (Separable::height_for(ny, nx) > 0)
      return launch("kastor::convolve::separable", Separable(c, taps_x, nx, taps_y, ny));
    core::grow(along_x, space, "kastor::convolve::along_x", c.image.ny * c.result.nx);
    const core::WritableRows<T> sums{along_x.data(), c.image.ny, c.result.nx, c.result.nx};
    sum_direct("kastor::convolve::along_x", {c.image, sums, {0, c.origin.x}, false}, taps_x, 1, nx);
    sum_direct("kastor::convolve::along_y",
               {{sums.data, sums.ny, sums.nx, sums.pitch}, c.result, {c.origin.y, 0}, c.onto},
               taps_y, ny, 1);
  }

  /// In as few launches as the scratch memory for rows of taps allows.
  void sum_direct(const char* label, const detail::Convolution<T>& c, const T* list, int ny,
                  int nx) {
    const int room = Direct::room_for(ny, nx).tap_rows;
    const int launches = (ny + room - 1) / room;
    const int at_once = (ny + launches - 1) / launches;
    for (int t = 0; t < ny; t += at_once)
      launch(label, Direct({c.image, c.result, {c.origin.y + t, c.origin.x}, c.onto || t > 0},
                           list + t * nx, std::min(at_once, ny - t), nx));
  }

  template <class Kernel>
  void launch(const char* label, const Kernel& kernel) {
    core::for_each_group<detail::tile_threads, 6>(label, space, kernel.shape(), kernel);
  }

  Exec space;
  ConvolveParams params;
  detail::Taps<T> taps;
  T all_taps = detail::sum_of_taps(taps);
  List device_taps;
  List along_x;                          // sums along x
  List values, weights, result_weights;  // for NanTreatment::interpolate
};

template <class Exec, Real T>
Convolver<Exec, T>::Convolver(const Exec& space, const ConvolutionKernel& kernel,
                              const ConvolveParams& params) {
  detail::check_kernel("kastor::Convolver", kernel);
  if (params.nan == NanTreatment::interpolate) detail::check_sum_of_taps(kernel);
  m_plan = std::make_unique<Plan>(space, kernel, params);
}

template <class Exec, Real T>
Convolver<Exec, T>::~Convolver() = default;
template <class Exec, Real T>
Convolver<Exec, T>::Convolver(Convolver&&) noexcept = default;
template <class Exec, Real T>
Convolver<Exec, T>& Convolver<Exec, T>::operator=(Convolver&&) noexcept = default;

template <class Exec, Real T>
ImageShape Convolver<Exec, T>::result_shape(const ImageShape& image) const {
  return m_plan->result_shape(image);
}
template <class Exec, Real T>
void Convolver<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                    const MutableImage<T, Exec>& result) {
  m_plan->run(image, result);
}
template <class Exec, Real T>
ConvolveMethod Convolver<Exec, T>::method() const {
  return m_plan->taps.parts == 0 ? ConvolveMethod::direct : ConvolveMethod::separable;
}
template <class Exec, Real T>
std::int64_t Convolver<Exec, T>::parts() const {
  return m_plan->taps.parts;
}
template <class Exec, Real T>
double Convolver<Exec, T>::kernel_error() const {
  return m_plan->taps.kernel_error;
}

template <class Exec, Real T>
void convolve_signal_into(const Exec& space, const ConstSignal<T, Exec>& signal,
                          const ConstSignal<T, Exec>& taps, const MutableSignal<T, Exec>& result) {
  const Kokkos::Profiling::ScopedRegion region("kastor::convolve_signal");
  const auto n = static_cast<std::int64_t>(signal.extent(0));
  const auto m = static_cast<std::int64_t>(taps.extent(0));
  KASTOR_EXPECTS("kastor::convolve", n > 0 && m > 0,
                 "the signal has " + std::to_string(n) + " values and there are " +
                     std::to_string(m) + " taps; expected at least one of each");
  KASTOR_EXPECTS("kastor::convolve", static_cast<std::int64_t>(result.extent(0)) == n + m - 1,
                 "the result has " + std::to_string(result.extent(0)) + " values; expected " +
                     std::to_string(n + m - 1));
  using Kernel = detail::ConvolveSignal<Exec, T>;
  const Kernel kernel = n >= m ? Kernel{signal.data(), n, taps.data(), m, result.data()}
                               : Kernel{taps.data(), m, signal.data(), n, result.data()};
  core::for_each("kastor::convolve_signal::values", space, kernel.threads(), kernel);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T)                                                          \
  template class kastor::Convolver<EXEC, T>;                                                 \
  template void kastor::convolve_signal_into<EXEC, T>(                                       \
      const EXEC&, const kastor::ConstSignal<T, EXEC>&, const kastor::ConstSignal<T, EXEC>&, \
      const kastor::MutableSignal<T, EXEC>&);
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
