// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <kastor/convolution_kernel.hpp>
#include <kastor/error.hpp>
#include <string>
#include <utility>

namespace kastor {

void detail::check_kernel(const char* function, const ConvolutionKernel& kernel) {
  const auto& [ny, nx, taps] = kernel;
  KASTOR_EXPECTS(
      function, ny >= 1 && nx >= 1 && ny <= most_kernel_pixels && nx <= most_kernel_pixels,
      "the kernel is " + std::to_string(ny) + " x " + std::to_string(nx) +
          " pixels; expected 1 to " + std::to_string(most_kernel_pixels) + " in each direction");
  KASTOR_EXPECTS(function, static_cast<std::int64_t>(taps.size()) == ny * nx,
                 "the kernel has " + std::to_string(taps.size()) + " taps; expected " +
                     std::to_string(ny) + " x " + std::to_string(nx));
  const auto odd =
      std::find_if(taps.begin(), taps.end(), [](double t) { return !std::isfinite(t); });
  KASTOR_EXPECTS(function, odd == taps.end(),
                 "tap (" + std::to_string((odd - taps.begin()) / nx) + ", " +
                     std::to_string((odd - taps.begin()) % nx) +
                     ") of the kernel is not finite; expected finite numbers");
}

ConvolutionKernel gaussian_kernel(double sigma, std::int64_t size) {
  KASTOR_EXPECTS("kastor::gaussian_kernel", sigma > 0 && std::isfinite(sigma),
                 "sigma is " + std::to_string(sigma) + " pixels; expected a finite number above 0");
  if (size == 0) {
    KASTOR_EXPECTS("kastor::gaussian_kernel", 8 * sigma <= most_kernel_pixels,
                   "sigma is " + std::to_string(sigma) +
                       " pixels, which needs a kernel of more than 127 pixels; expected sigma up "
                       "to 15.875, or a size");
    size = static_cast<std::int64_t>(std::ceil(8 * sigma));
    size += 1 - size % 2;
  }
  KASTOR_EXPECTS(
      "kastor::gaussian_kernel", size >= 1 && size <= most_kernel_pixels && size % 2 == 1,
      "the size is " + std::to_string(size) + " pixels; expected an odd number from 1 to 127");
  std::vector<double> profile;
  double sum = 0;
  const std::int64_t middle = size / 2;
  for (std::int64_t i = 0; i < size; ++i) {
    const double d = static_cast<double>(i - middle) / sigma;
    profile.push_back(std::exp(-0.5 * d * d));
    sum += profile.back();
  }
  ConvolutionKernel kernel{size, size, {}};
  for (const double a : profile)
    for (const double b : profile) kernel.taps.push_back(a / sum * (b / sum));
  return kernel;
}

ConvolutionKernel lesson_kernel() {
  constexpr int size = 15;
  constexpr double step = 4.0 / (size - 1);
  const auto position = [](int i) { return i == size - 1 ? 2.0 : i * step - 2.0; };
  ConvolutionKernel kernel{size, size, {}};
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const double y = position(i);
      const double x = position(j);
      kernel.taps.push_back(std::exp(-(x * x + y * y) / 2));
    }
  }
  return kernel;
}

namespace {

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

/// The position of the largest magnitude; among equal ones the first in raster order.
std::pair<std::int64_t, std::int64_t> pivot_of(const ConvolutionKernel& remainder) {
  const auto at = std::max_element(remainder.taps.begin(), remainder.taps.end(),
                                   [](double a, double b) { return std::abs(a) < std::abs(b); });
  const auto i = static_cast<std::int64_t>(at - remainder.taps.begin());
  return {i / remainder.nx, i % remainder.nx};
}

SeparablePart take_part(ConvolutionKernel& remainder) {
  const auto [row, column] = pivot_of(remainder);
  SeparablePart part;
  for (std::int64_t x = 0; x < remainder.nx; ++x) part.along_x.push_back(remainder.at(row, x));
  const double pivot = remainder.at(row, column);
  for (std::int64_t y = 0; y < remainder.ny; ++y)
    part.along_y.push_back(remainder.at(y, column) / pivot);
  for (std::int64_t y = 0; y < remainder.ny; ++y) {
    for (std::int64_t x = 0; x < remainder.nx; ++x) {
      double& tap = remainder.taps[static_cast<std::size_t>(y * remainder.nx + x)];
      const bool explained = y == row || x == column;
      tap = explained ? 0.0
                      : tap - part.along_y[static_cast<std::size_t>(y)] *
                                  part.along_x[static_cast<std::size_t>(x)];
    }
  }
  return part;
}

}  // namespace

SeparableForm separable_form(const ConvolutionKernel& kernel, double tolerance) {
  detail::check_kernel("kastor::separable_form", kernel);
  const double largest = largest_magnitude(kernel.taps);
  SeparableForm form;
  ConvolutionKernel remainder = kernel;
  const auto most_parts = static_cast<std::size_t>(std::min(kernel.ny, kernel.nx));
  do {  // a kernel of zeros has one part of zeros
    if (largest == 0) {
      form.parts.push_back({std::vector<double>(static_cast<std::size_t>(kernel.ny), 0.0),
                            std::vector<double>(static_cast<std::size_t>(kernel.nx), 0.0)});
      return form;
    }
    form.parts.push_back(take_part(remainder));
    form.error = largest_magnitude(remainder.taps) / largest;
  } while (form.error > tolerance && form.parts.size() < most_parts);
  return form;
}

}  // namespace kastor
