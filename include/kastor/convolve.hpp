// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLVE_HPP
#define KASTOR_CONVOLVE_HPP

#include <cstdint>
#include <kastor/convolution_kernel.hpp>
#include <kastor/image.hpp>
#include <memory>
#include <vector>

namespace kastor {

/// Which part of the convolution is returned. The image is taken as zero beyond its edges.
enum class ConvolveMode {
  full,  ///< every pixel that the kernel reaches: (ny + kernel.ny - 1, nx + kernel.nx - 1)
  same,  ///< the shape of the image, centred in `full`: rows from (kernel.ny - 1) / 2 on
  valid  ///< only where image and kernel overlap fully: |image extent - kernel extent| + 1
};

/// How the sums are computed.
enum class ConvolveMethod {
  /// Separable if that saves at least half of the arithmetic, or any of it for a kernel of a single
  /// part; else direct.
  automatic,
  direct,    ///< tap by tap
  separable  ///< sums along x, then along y, for as many parts as the kernel needs
};

/// How NaN and infinite pixels are treated.
enum class NanTreatment {
  propagate,  ///< every pixel of the result that such a pixel reaches is NaN or infinite
  /// They are left out, and the sum over the others is scaled by (sum of all taps) / (sum of the
  /// taps used); NaN if none was used.
  interpolate
};

/// Parameters of `Convolver`.
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

/// Convolves images with one kernel, as `scipy.signal.convolve2d` does:
///
///   full(y, x) = sum over i, j of kernel(i, j) * image(y - i, x - j)
///
/// Every product and every sum is rounded in T, without fused multiply-add. Products are added in
/// the raster order of the image's pixels (separable: along x, then along y, part by part). So for
/// one method the bits are the same on every backend, and `automatic` chooses from the kernel
/// alone. Let u be the unit roundoff of T (2^-53 or 2^-24). Compared with the exact convolution
/// with the given kernel, the error of a pixel is, to first order in u, at most
///
/// - direct: (ny * nx + 1) * u * S, where S is the sum of |kernel| * |image| over the taps; one u
///   less if the taps are representable in T;
/// - separable: (nx + parts * ny + 2) * u * P + `kernel_error()` * K, where P is the sum of |tap of
///   the part| * |image| over the taps of all parts, and K is the largest |tap| times the sum of
///   |image|.
///
/// Owns the taps on the device and its work space: repeated calls on images of one size allocate
/// nothing. Use one object per execution space instance; do not share it between threads.
template <class Exec, Real T>
class Convolver {
 public:
  /// Fences `space` once, after copying the taps.
  /// \throws Error if the kernel is out of range, or if blank pixels are to be interpolated and the
  /// sum of the taps is zero (below 1e-6 of the sum of their magnitudes).
  Convolver(const Exec& space, const ConvolutionKernel& kernel, const ConvolveParams& params = {});
  ~Convolver();
  Convolver(Convolver&&) noexcept;
  Convolver& operator=(Convolver&&) noexcept;

  /// The shape of the result for an image of this shape; 0 x 0 for an image without pixels.
  /// \throws Error if the mode is `valid` and neither image nor kernel fits into the other.
  [[nodiscard]] ImageShape result_shape(const ImageShape& image) const;

  /// Fills `result`, which must have the shape given by `result_shape`. Enqueues only.
  /// \throws Error if it has another shape, or if the two images overlap in memory.
  void operator()(const ConstImage<T, Exec>& image, const MutableImage<T, Exec>& result);
  /// The same for any Views that keep the layout contract.
  template <AnyView V, AnyView W>
  void operator()(const V& image, const W& result) {
    const ConstImage<T, Exec> from = detail::as_const_image_of<T, Exec>(image);
    const MutableImage<T, Exec> to = detail::as_mutable_image_of<T, Exec>(result);
    (*this)(from, to);
  }

  /// The method that is used: `direct` or `separable`.
  [[nodiscard]] ConvolveMethod method() const;
  /// Number of separable parts; 0 for the direct form.
  [[nodiscard]] std::int64_t parts() const;
  /// The largest difference between a tap and the sum of its parts, over the largest |tap|: at most
  /// 2^-50 for double, 2^-26 for float; 0 for the direct form.
  [[nodiscard]] double kernel_error() const;

 private:
  struct Plan;
  std::unique_ptr<Plan> m_plan;
};

/// One-shot form for any View that keeps the layout contract. Fences `space`. \throws Error as
/// `Convolver` does.
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
  // The work space of the convolver must outlive the kernels that use it.
  space.fence("kastor::convolve");
  return result;
}

/// A read-only rank-1 list of values that `Exec` can access: shallow, unmanaged, contiguous.
template <class T, class Exec>
using ConstSignal = Kokkos::View<const T*, Kokkos::LayoutRight, typename Exec::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
/// The same, writable.
template <class T, class Exec>
using MutableSignal = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// 1-D convolution, mode full: result(x) = sum over j of taps(j) * signal(x - j). `result` has
/// signal.extent(0) + taps.extent(0) - 1 values. Both may have any length; the time is proportional
/// to the product of the two. Products are added in the order of the elements of the longer one.
/// NaN and infinities propagate. Enqueues only, allocates nothing.
/// \throws Error if one of the two is empty, or `result` has another length.
template <class Exec, Real T>
void convolve_signal_into(const Exec& space, const ConstSignal<T, Exec>& signal,
                          const ConstSignal<T, Exec>& taps, const MutableSignal<T, Exec>& result);

/// One-shot form for two rank-1 Views of the same value type. Enqueues only. \throws Error if one
/// of the two is empty.
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
