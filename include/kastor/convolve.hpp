// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_HPP
#define KASTOR_CONVOLVE_HPP

#include <cstdint>
#include <kastor/convolution_kernel.hpp>
#include <kastor/image.hpp>
#include <memory>
#include <vector>

namespace kastor {

/// Which part of the convolution is kept. The image is zero beyond its edges.
enum class ConvolveMode {
  full,  ///< everything the kernel reaches: (ny + kernel.ny - 1, nx + kernel.nx - 1)
  same,  ///< the image's shape, centred in `full`: from row (kernel.ny - 1) / 2 on
  valid  ///< where no edge is met: |extent of the image - extent of the kernel| + 1
};

/// How the sums are formed.
enum class ConvolveMethod {
  automatic,  ///< separable where that saves at least half of the arithmetic or the kernel is one
              ///< separable part, else direct
  direct,     ///< every tap as it is
  separable   ///< sums along x, then along y, for as many parts as the kernel needs
};

/// What NaN and infinite pixels do.
enum class NanTreatment {
  propagate,   ///< every pixel of the result that such a pixel reaches is NaN or infinite
  interpolate  ///< they take no part, and the sum over the others is scaled by the sum of all taps
               ///< over the sum of those that took part; NaN where none did
};

/// How `Convolver` goes about it.
struct ConvolveParams {
  ConvolveMode mode = ConvolveMode::full;
  ConvolveMethod method = ConvolveMethod::automatic;
  NanTreatment nan = NanTreatment::propagate;
};

/// Extents of an image [pixel].
struct ImageShape {
  std::int64_t ny = 0;
  std::int64_t nx = 0;
};

/// The convolution of images with one kernel, as `scipy.signal.convolve2d`:
///
///   full(y, x) = sum over i, j of kernel(i, j) * image(y - i, x - j)
///
/// Every product and sum is rounded in T, the products added in the raster order of the image's
/// pixels (separable: along x, then along y, parts one after the other), without fused
/// multiply-add. For one method the bits are therefore the same on every backend, and `automatic`
/// chooses by the kernel alone. Against the exact convolution with the kernel given, u being T's
/// unit roundoff (2^-53, 2^-24), the error of a pixel is at most
///
/// - direct: (ny * nx + 1) * u * S, with S the sum of |kernel| * |image| over the taps; one u less
///   where the taps are representable in T,
/// - separable: (nx + parts * ny + 2) * u * P + `kernel_error()` * K, with P the sum of
///   |part's tap| * |image| over the taps of all parts, and K the largest |tap| times the sum of
///   |image|,
/// to first order in u.
///
/// Owns the taps on the device and its work space: repeated calls on images of one size allocate
/// nothing. One object per instance, not shared between threads.
template <class Exec, Real T>
class Convolver {
 public:
  /// Fences `space` once, when the taps are there. \throws Error if the kernel is out of its range,
  /// or its taps add up to nothing (below 1e-6 of their magnitudes) and blank pixels are to be
  /// interpolated.
  Convolver(const Exec& space, const ConvolutionKernel& kernel, const ConvolveParams& params = {});
  ~Convolver();
  Convolver(Convolver&&) noexcept;
  Convolver& operator=(Convolver&&) noexcept;

  /// The shape of the result for an image of that shape; 0 x 0 for an image without pixels.
  /// \throws Error if the mode is `valid` and the kernel is the larger in one direction only.
  [[nodiscard]] ImageShape result_shape(const ImageShape& image) const;

  /// Fills `result`, which has the shape that `result_shape` tells. Enqueues only.
  /// \throws Error if the shape differs or the two images overlap.
  void operator()(const ConstImage<T, Exec>& image, const MutableImage<T, Exec>& result);
  /// For any Views that keep the layout contract.
  template <AnyView V, AnyView W>
  void operator()(const V& image, const W& result) {
    const ConstImage<T, Exec> from = detail::as_const_image_of<T, Exec>(image);
    const MutableImage<T, Exec> to = detail::as_mutable_image_of<T, Exec>(result);
    (*this)(from, to);
  }

  /// `direct` or `separable`: what `automatic` became.
  [[nodiscard]] ConvolveMethod method() const;
  /// Separable parts; 0 for the direct form.
  [[nodiscard]] std::int64_t parts() const;
  /// The largest difference between a tap and the sum of its parts, over the largest |tap|: at most
  /// 2^-50 for double, 2^-26 for float; 0 for the direct form.
  [[nodiscard]] double kernel_error() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract. Enqueues only, after the taps are on
/// the device.
template <class Exec, class V>
[[nodiscard]] auto convolve(const Exec& space, const V& image, const ConvolutionKernel& kernel,
                            const ConvolveParams& params = {}) {
  using T = PixelOf<Exec, V>;
  Convolver<Exec, T> convolver(space, kernel, params);
  const auto canonical = as_const_image<Exec>(image);
  const ImageShape shape = convolver.result_shape({static_cast<std::int64_t>(canonical.extent(0)),
                                                   static_cast<std::int64_t>(canonical.extent(1))});
  Image<T, Exec> result(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::convolve::result"),
      static_cast<std::size_t>(shape.ny), static_cast<std::size_t>(shape.nx));
  convolver(canonical, result);
  // The convolver's work space must outlive the kernels that use it.
  space.fence("kastor::convolve");
  return result;
}

/// A rank-1 list of values that `Exec` can reach: shallow, unmanaged, contiguous.
template <class T, class Exec>
using ConstSignal = Kokkos::View<const T*, Kokkos::LayoutRight, typename Exec::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
/// The same, to be written to.
template <class T, class Exec>
using MutableSignal = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// 1-D convolution, mode full: result(x) = sum over j of taps(j) * signal(x - j), for result of
/// signal.extent(0) + taps.extent(0) - 1 values. Any lengths; the time grows with their product.
/// The products are added in the order of the longer one's elements, as for images. NaN and
/// infinities propagate. Enqueues only, allocates nothing.
/// \throws Error if one is empty or the result's length differs.
template <class Exec, Real T>
void convolve_signal_into(const Exec& space, const ConstSignal<T, Exec>& signal,
                          const ConstSignal<T, Exec>& taps, const MutableSignal<T, Exec>& result);

/// One-shot form for two rank-1 Views of the same value type. Fences `space`.
template <class Exec, class V, class W>
requires(V::rank == 1 && W::rank == 1)
    [[nodiscard]] auto convolve(const Exec& space, const V& signal, const W& taps) {
  using T = typename V::non_const_value_type;
  static_assert(Real<T> && std::is_same_v<T, typename W::non_const_value_type>,
                "kastor::convolve: signal and taps must both be float or both be double");
  static_assert(Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible &&
                    Kokkos::SpaceAccessibility<Exec, typename W::memory_space>::accessible,
                "kastor::convolve: the execution space cannot reach the signal or the taps");
  static_assert(!std::is_same_v<typename V::array_layout, Kokkos::LayoutStride> &&
                    !std::is_same_v<typename W::array_layout, Kokkos::LayoutStride>,
                "kastor::convolve: the signal and the taps must be contiguous");
  const std::size_t length = signal.extent(0) + taps.extent(0) - 1;
  Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space> result(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::convolve::result"),
      signal.extent(0) == 0 || taps.extent(0) == 0 ? 0 : length);
  convolve_signal_into<Exec, T>(space, ConstSignal<T, Exec>(signal.data(), signal.extent(0)),
                                ConstSignal<T, Exec>(taps.data(), taps.extent(0)), result);
  return result;
}

}  // namespace kastor

#endif
