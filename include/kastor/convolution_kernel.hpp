// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLUTION_KERNEL_HPP
#define KASTOR_CONVOLUTION_KERNEL_HPP

#include <cstdint>
#include <vector>

namespace kastor {

/// The largest extent of a 2-D kernel along each axis [pixel].
inline constexpr std::int64_t most_kernel_pixels = 127;

/// The weights of a 2-D convolution, in host memory: (ny, nx), row by row, x fastest.
struct ConvolutionKernel {
  std::int64_t ny = 0;       ///< rows [1, 127]
  std::int64_t nx = 0;       ///< columns [1, 127]
  std::vector<double> taps;  ///< ny * nx finite numbers

  /// The tap in row y and column x, both from 0.
  [[nodiscard]] double at(std::int64_t y, std::int64_t x) const {
    return taps[static_cast<std::size_t>(y * nx + x)];
  }
};

/// A circular Gaussian whose taps add up to 1, so that it preserves the sum of an image.
/// \param sigma  standard deviation [pixel]  [> 0, finite]
/// \param size   extent along both axes [pixel], odd, [1, 127]; 0: the smallest odd size >= 8 sigma
/// \throws Error if an argument is out of range, or if size 0 would need more than 127 pixels.
[[nodiscard]] ConvolutionKernel gaussian_kernel(double sigma, std::int64_t size = 0);

/// The kernel of the GPU programming course from which Kastor grew: 15 x 15 taps, exp(-(x^2 +
/// y^2) / 2) for x and y from -2 to 2, not normalised.
[[nodiscard]] ConvolutionKernel lesson_kernel();

/// One separable part of a kernel: along_y[i] * along_x[j] is its contribution to tap (i, j).
struct SeparablePart {
  std::vector<double> along_y;  ///< ny taps, magnitudes up to 1
  std::vector<double> along_x;  ///< nx taps
};

/// A kernel as a sum of separable parts.
struct SeparableForm {
  std::vector<SeparablePart> parts;
  double error = 0;  ///< largest |tap - sum of the parts|, over the largest |tap|
};

/// Expands a kernel into separable parts, until every tap is reproduced within `tolerance` times
/// the largest tap. Parts are chosen greedily; a kernel of rank r needs r of them (a Gaussian one).
/// This is cross approximation with complete pivoting: the row and the column of the largest
/// remaining tap make a part, which is subtracted from the remainder (Golub and Van Loan, Matrix
/// Computations, section 3.4). `along_x` of the first part is a row of the kernel, unchanged. Stops
/// after min(ny, nx) parts at the latest. \throws Error if the kernel is out of range.
[[nodiscard]] SeparableForm separable_form(const ConvolutionKernel& kernel, double tolerance);

namespace detail {
/// \throws Error unless the extents, the number of taps and the taps are valid.
void check_kernel(const char* function, const ConvolutionKernel& kernel);
}  // namespace detail
}  // namespace kastor

#endif
