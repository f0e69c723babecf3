// SPDX-License-Identifier: Apache-2.0
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <algorithm>
#include <cmath>
#include <kastor/convolve.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/detection_filter.hpp>
#include <kastor/island_maps.hpp>
#include <string>
#include <utility>

#include "core/clip_correction.hpp"
#include "core/image_shape.hpp"
#include "core/interval.hpp"
#include "core/launch.hpp"
#include "core/plan_memory.hpp"

namespace kastor {

ConvolutionKernel sextractor_kernel() {
  return {3, 3, {0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625}};
}

namespace detail {

/// What is convolved: 0 where a pixel is not used; there `snr` becomes NaN.
template <class T>
struct ZeroUnused {
  T* snr;
  T* signal;
  const std::uint64_t* region;  ///< null: all pixels
  std::int64_t nx, words_per_row;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool used = core::is_finite(snr[i]) && (region == nullptr || is_in_region(i));
    signal[i] = used ? snr[i] : T{0};
    if (!used) snr[i] = Kokkos::Experimental::quiet_NaN_v<T>;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION bool is_in_region(std::int64_t i) const {
    const std::int64_t y = i / nx;
    const std::int64_t x = i - y * nx;
    return (region[y * words_per_row + x / 64] >> (x % 64) & 1) != 0;
  }
};

/// Blanks the filtered pixels that are not used, and counts the others.
template <class T>
struct BlankUnused {
  using value_type = std::int64_t;
  const T* snr;
  T* filtered;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& used) const {
    if (core::is_finite(snr[i])) {
      used += core::is_finite(filtered[i]) ? 1 : 0;
    } else {
      filtered[i] = Kokkos::Experimental::quiet_NaN_v<T>;
    }
  }
};

namespace {

/// The noise of filtered white noise of 1.
[[nodiscard]] double white_noise_after(const ConvolutionKernel& kernel) {
  double squares = 0;
  for (const double tap : kernel.taps) squares += tap * tap;
  return std::sqrt(squares);
}

void check_filter(const ConvolutionKernel& kernel) {
  check_kernel("kastor::DetectionFilter", kernel);
  KASTOR_EXPECTS("kastor::DetectionFilter", kernel.ny % 2 == 1 && kernel.nx % 2 == 1,
                 "the kernel is " + std::to_string(kernel.ny) + " x " + std::to_string(kernel.nx) +
                     " pixels; expected odd extents, since it has a central pixel");
  KASTOR_EXPECTS(
      "kastor::DetectionFilter",
      std::any_of(kernel.taps.begin(), kernel.taps.end(), [](double t) { return t != 0; }),
      "all taps of the kernel are 0; expected one that is not");
}

/// The taps as `Convolver` takes them: it convolves, while a matched filter correlates.
struct NormalisedTaps {
  ConvolutionKernel kernel;  ///< turned by 180 degrees
  bool sums_to_one = false;  ///< else the magnitudes do: positive and negative taps cancel
};

NormalisedTaps normalised(ConvolutionKernel kernel) {
  check_filter(kernel);
  double largest = 0;
  for (const double tap : kernel.taps) largest = std::max(largest, std::abs(tap));
  // By a power of two, which rounds nothing: the sums cannot overflow.
  const int exponent = std::ilogb(largest);
  double sum = 0, magnitude = 0;
  for (double& tap : kernel.taps) {
    tap = std::scalbn(tap, -exponent);
    sum += tap;
    magnitude += std::abs(tap);
  }
  const double cancelled = 1e-6 * magnitude;
  KASTOR_EXPECTS("kastor::DetectionFilter", sum >= -cancelled,
                 "the sum of the kernel's taps is below 0, so that sources would become holes; "
                 "expected a sum above 0, or of 0");
  const bool sums_to_one = sum > cancelled;
  const double scale = sums_to_one ? sum : magnitude;
  for (double& tap : kernel.taps) tap /= scale;
  std::reverse(kernel.taps.begin(), kernel.taps.end());
  return {std::move(kernel), sums_to_one};
}

}  // namespace
}  // namespace detail

template <class Exec, Real T>
struct DetectionFilter<Exec, T>::Plan {
  Plan(const Exec& s, const detail::NormalisedTaps& taps, const SigmaClipParams& params,
       bool corrects_clip)
      : space(s),
        white_noise(detail::white_noise_after(taps.kernel)),
        sums_to_one(taps.sums_to_one),
        correction(corrects_clip ? detail::clip_correction(params.kappa, params.max_passes) : 1),
        convolve(s, taps.kernel, {ConvolveMode::same}),
        clip(s, params) {}

  [[nodiscard]] FilteredImage<Exec, T> run(const ConstImage<T, Exec>& image,
                                           const Background<Exec, T>& background,
                                           const BitMask<Exec>& region) {
    const Kokkos::Profiling::ScopedRegion profile("kastor::detection_filter");
    const auto ny = static_cast<std::int64_t>(image.extent(0));
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    core::ImageShape{"kastor::DetectionFilter", {ny, nx}}.expect_region(region);
    const std::int64_t n = ny * nx;
    core::grow(snr, space, "kastor::detection_filter::snr", n);
    core::grow(signal, space, "kastor::detection_filter::signal", n);
    core::grow(filtered, space, "kastor::detection_filter::filtered", n);
    const auto as_image = [&](const List& list) {
      return MutableImage<T, Exec>(list.data(), image.extent(0), image.extent(1));
    };
    fill_snr_map<Exec, T>(space, image, background, as_image(snr));
    core::for_each(
        "kastor::detection_filter::zero_unused", space, n,
        detail::ZeroUnused<T>{snr.data(), signal.data(), region.words.data(), nx, (nx + 63) / 64});
    convolve(ConstImage<T, Exec>(as_image(signal)), as_image(filtered));
    const std::int64_t used = core::reduce("kastor::detection_filter::blank_unused", space, n,
                                           detail::BlankUnused<T>{snr.data(), filtered.data()});
    FilteredImage<Exec, T> result{ConstImage<T, Exec>(as_image(filtered)), 0, sums_to_one};
    if (used == 0) return result;
    const double noise = clip(result.snr).clipped.std * correction;
    result.noise = noise > 0 ? noise : white_noise;
    return result;
  }

  using List = Kokkos::View<T*, typename Exec::memory_space>;
  Exec space;
  double white_noise;
  bool sums_to_one;
  double correction;
  Convolver<Exec, T> convolve;
  SigmaClipper<Exec, T> clip;
  List snr, signal, filtered;
};

template <class Exec, Real T>
DetectionFilter<Exec, T>::DetectionFilter(const Exec& space, const ConvolutionKernel& kernel,
                                          const SigmaClipParams& clip, bool correct_clip)
    : m_plan(std::make_unique<Plan>(space, detail::normalised(kernel), clip, correct_clip)) {}
template <class Exec, Real T>
DetectionFilter<Exec, T>::~DetectionFilter() = default;
template <class Exec, Real T>
DetectionFilter<Exec, T>::DetectionFilter(DetectionFilter&&) noexcept = default;
template <class Exec, Real T>
DetectionFilter<Exec, T>& DetectionFilter<Exec, T>::operator=(DetectionFilter&&) noexcept = default;

template <class Exec, Real T>
FilteredImage<Exec, T> DetectionFilter<Exec, T>::operator()(const ConstImage<T, Exec>& image,
                                                            const Background<Exec, T>& background,
                                                            const BitMask<Exec>& region) {
  return m_plan->run(image, background, region);
}

}  // namespace kastor

#define KASTOR_INSTANTIATE(EXEC, T) template class kastor::DetectionFilter<EXEC, T>;
KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_INSTANTIATE)
