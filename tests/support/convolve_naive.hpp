// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_CONVOLVE_NAIVE_HPP
#define KASTOR_TESTS_CONVOLVE_NAIVE_HPP

#include <cmath>
#include <cstdint>
#include <kastor/convolve.hpp>
#include <vector>

#include "generators.hpp"
#include "naive.hpp"

/// Convolution written down as its definition. The library's order of additions is part of its
/// promise, so some references follow it and are compared bit by bit.
namespace testing_support {

/// Where mode full's pixel (y, x) begins in another mode, and the shape.
struct KeptPart {
  std::int64_t y, x, ny, nx;
};
[[nodiscard]] inline KeptPart kept_part(kastor::ConvolveMode mode, std::int64_t ny, std::int64_t nx,
                                        const kastor::ConvolutionKernel& kernel) {
  if (mode == kastor::ConvolveMode::full) return {0, 0, ny + kernel.ny - 1, nx + kernel.nx - 1};
  if (mode == kastor::ConvolveMode::same) return {(kernel.ny - 1) / 2, (kernel.nx - 1) / 2, ny, nx};
  return {std::min(ny, kernel.ny) - 1, std::min(nx, kernel.nx) - 1, std::abs(ny - kernel.ny) + 1,
          std::abs(nx - kernel.nx) + 1};
}

/// Calls take(product's tap, pixel) for every pixel that the taps of full's (y, x) meet, in the
/// image's raster order; pixels beyond the image are 0.
template <class T, class Take>
void for_each_product(const HostImage<T>& image, const kastor::ConvolutionKernel& kernel,
                      std::int64_t y, std::int64_t x, const Take& take) {
  for (std::int64_t i = kernel.ny - 1; i >= 0; --i) {
    for (std::int64_t j = kernel.nx - 1; j >= 0; --j) {
      const std::int64_t row = y - i;
      const std::int64_t column = x - j;
      const bool inside = row >= 0 && row < image.ny && column >= 0 && column < image.nx;
      take(kernel.at(i, j), inside ? image(row, column) : T{0}, inside);
    }
  }
}

struct ConvolvedPixel {
  long double value = 0;
  long double magnitude = 0;  ///< sum of |tap| * |pixel|
  long double pixels = 0;     ///< sum of |pixel|
};

[[nodiscard]] inline long double magnitude(long double v) { return v < 0 ? -v : v; }

/// The convolution in long double.
template <class T>
[[nodiscard]] HostGrid<ConvolvedPixel> convolve_naive(const HostImage<T>& image,
                                                      const kastor::ConvolutionKernel& kernel,
                                                      kastor::ConvolveMode mode) {
  const KeptPart kept = kept_part(mode, image.ny, image.nx, kernel);
  HostGrid<ConvolvedPixel> result(kept.ny, kept.nx);
  for (std::int64_t y = 0; y < kept.ny; ++y) {
    for (std::int64_t x = 0; x < kept.nx; ++x) {
      ConvolvedPixel& pixel = result(y, x);
      for_each_product(image, kernel, y + kept.y, x + kept.x, [&](double tap, T value, bool) {
        const auto v = static_cast<long double>(value);
        pixel.value += static_cast<long double>(tap) * v;
        pixel.magnitude += magnitude(static_cast<long double>(tap)) * magnitude(v);
        pixel.pixels += magnitude(v);
      });
    }
  }
  return result;
}

/// The direct form in T, in the order that is promised.
template <class T>
[[nodiscard]] HostImage<T> convolve_in_order(const HostImage<T>& image,
                                             const kastor::ConvolutionKernel& kernel,
                                             kastor::ConvolveMode mode) {
  const KeptPart kept = kept_part(mode, image.ny, image.nx, kernel);
  HostImage<T> result(kept.ny, kept.nx);
  for (std::int64_t y = 0; y < kept.ny; ++y) {
    for (std::int64_t x = 0; x < kept.nx; ++x) {
      T sum = 0;
      for_each_product(image, kernel, y + kept.y, x + kept.x,
                       [&](double tap, T value, bool) { sum += static_cast<T>(tap) * value; });
      result(y, x) = sum;
    }
  }
  return result;
}

/// The separable form in T, in the order that is promised: every row along x, then down the
/// columns, parts one after the other.
template <class T>
[[nodiscard]] HostImage<T> convolve_parts_in_order(const HostImage<T>& image,
                                                   const kastor::ConvolutionKernel& kernel,
                                                   const kastor::SeparableForm& form,
                                                   kastor::ConvolveMode mode) {
  const KeptPart kept = kept_part(mode, image.ny, image.nx, kernel);
  HostImage<T> result(kept.ny, kept.nx);
  for (const kastor::SeparablePart& part : form.parts) {
    HostImage<T> along(image.ny, kept.nx);
    for (std::int64_t y = 0; y < image.ny; ++y) {
      for (std::int64_t x = 0; x < kept.nx; ++x) {
        for (std::int64_t j = kernel.nx - 1; j >= 0; --j) {
          const std::int64_t column = x + kept.x - j;
          const bool inside = column >= 0 && column < image.nx;
          along(y, x) += static_cast<T>(part.along_x[static_cast<std::size_t>(j)]) *
                         (inside ? image(y, column) : T{0});
        }
      }
    }
    for (std::int64_t y = 0; y < kept.ny; ++y) {
      for (std::int64_t x = 0; x < kept.nx; ++x) {
        for (std::int64_t i = kernel.ny - 1; i >= 0; --i) {
          const std::int64_t row = y + kept.y - i;
          const bool inside = row >= 0 && row < image.ny;
          result(y, x) += static_cast<T>(part.along_y[static_cast<std::size_t>(i)]) *
                          (inside ? along(row, x) : T{0});
        }
      }
    }
  }
  return result;
}

/// Finite pixels only, scaled by the sum of all taps over the sum of those that took part.
template <class T>
[[nodiscard]] HostImage<double> interpolate_naive(const HostImage<T>& image,
                                                  const kastor::ConvolutionKernel& kernel,
                                                  kastor::ConvolveMode mode) {
  const KeptPart kept = kept_part(mode, image.ny, image.nx, kernel);
  HostImage<double> result(kept.ny, kept.nx);
  for (std::int64_t y = 0; y < kept.ny; ++y) {
    for (std::int64_t x = 0; x < kept.nx; ++x) {
      long double sum = 0, part = 0, all = 0;
      bool any = false;
      for_each_product(image, kernel, y + kept.y, x + kept.x, [&](double tap, T value, bool) {
        all += static_cast<long double>(tap);
        if (!std::isfinite(value)) return;
        any = any || tap != 0;
        part += static_cast<long double>(tap);
        sum += static_cast<long double>(tap) * static_cast<long double>(value);
      });
      result(y, x) =
          any ? static_cast<double>(sum * all / part) : std::numeric_limits<double>::quiet_NaN();
    }
  }
  return result;
}

/// A kernel of normal random numbers, of that rank (0: whatever it happens to be).
[[nodiscard]] inline kastor::ConvolutionKernel random_kernel(std::int64_t ny, std::int64_t nx,
                                                             int rank, std::uint64_t seed) {
  Random random(seed);
  kastor::ConvolutionKernel kernel{ny, nx,
                                   std::vector<double>(static_cast<std::size_t>(ny * nx), 0.0)};
  for (int r = 0; r < rank; ++r) {
    std::vector<double> column, row;
    for (std::int64_t i = 0; i < ny; ++i) column.push_back(random.gaussian());
    for (std::int64_t j = 0; j < nx; ++j) row.push_back(random.gaussian());
    for (std::int64_t i = 0; i < ny; ++i)
      for (std::int64_t j = 0; j < nx; ++j)
        kernel.taps[static_cast<std::size_t>(i * nx + j)] +=
            column[static_cast<std::size_t>(i)] * row[static_cast<std::size_t>(j)];
  }
  if (rank == 0)
    for (double& tap : kernel.taps) tap = random.gaussian();
  return kernel;
}

}  // namespace testing_support

#endif
