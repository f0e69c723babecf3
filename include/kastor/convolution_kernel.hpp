// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CONVOLUTION_KERNEL_HPP
#define KASTOR_CONVOLUTION_KERNEL_HPP

#include <cstdint>
#include <vector>

namespace kastor {

/// The largest extent of a 2-D kernel [pixel].
inline constexpr std::int64_t most_kernel_pixels = 127;

/// The weights of a 2-D convolution, in host memory: (ny, nx), row by row, x fastest.
struct ConvolutionKernel {
  std::int64_t ny = 0;       ///< [1, 127]
  std::int64_t nx = 0;       ///< [1, 127]
  std::vector<double> taps;  ///< ny * nx finite numbers

  /// The tap in row y and column x, from 0.
  [[nodiscard]] double at(std::int64_t y, std::int64_t x) const {
    return taps[static_cast<std::size_t>(y * nx + x)];
  }
};

/// A round Gaussian whose taps add up to 1, so that it keeps the sum of an image.
/// \param sigma  standard deviation [pixel]  [> 0, finite]
/// \param size   of both sides [pixel], odd, [1, 127]; 0: the odd size next above 8 sigma
/// \throws Error if an argument is out of its range, or the size of choice would be
[[nodiscard]] ConvolutionKernel gaussian_kernel(double sigma, std::int64_t size = 0);

/// The kernel of the course on GPU programming that Kastor grew out of: 15 x 15 taps,
/// exp(-(x^2 + y^2) / 2) for x and y from -2 to 2, not normalised.
[[nodiscard]] ConvolutionKernel lesson_kernel();

/// One separable part of a kernel: along_y[i] * along_x[j] adds to the tap (i, j).
struct SeparablePart {
  std::vector<double> along_y;  ///< ny taps, magnitudes up to 1
  std::vector<double> along_x;  ///< nx taps
};

/// A kernel as a sum of separable parts.
struct SeparableForm {
  std::vector<SeparablePart> parts;
  double error = 0;  ///< largest |tap - sum of the parts|, over the largest |tap|
};

/// The fewest parts, taken greedily, that give every tap within `tolerance` times the largest; a
/// kernel of rank r needs r of them (a Gaussian one). Cross approximation with complete pivoting:
/// the largest remaining tap's row and column are a part, and what they explain is taken off; Golub
/// and Van Loan, Matrix Computations, section 3.4. The first part holds a row of the kernel as it
/// is. Ends after min(ny, nx) parts at most. \throws Error if the kernel is out of its range.
[[nodiscard]] SeparableForm separable_form(const ConvolutionKernel& kernel, double tolerance);

namespace detail {
/// \throws Error unless the kernel is within its ranges.
void check_kernel(const char* function, const ConvolutionKernel& kernel);
}  // namespace detail
}  // namespace kastor

#endif
