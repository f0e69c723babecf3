// SPDX-License-Identifier: Apache-2.0

// The examples of docs/guide.md, "Convolve instead of your own stencil".

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/kastor.hpp>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;

// example-begin own-stencil
using Exec = Kokkos::DefaultExecutionSpace;
using Pixels = Kokkos::View<float**, Kokkos::LayoutRight>;  // (y, x), x fastest

/// Smooths with 5 x 5 weights; zero beyond the edges.
struct Smooth {
  Pixels image;
  Pixels result;
  Kokkos::View<float**, Kokkos::LayoutRight> weights;

  KOKKOS_FUNCTION void operator()(std::int64_t y, std::int64_t x) const {
    const auto ny = static_cast<std::int64_t>(image.extent(0));
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    float sum = 0;
    for (std::int64_t i = y - 2; i <= y + 2; ++i) {
      for (std::int64_t j = x - 2; j <= x + 2; ++j) {
        if (i < 0 || i >= ny || j < 0 || j >= nx) continue;
        sum += weights(y - i + 2, x - j + 2) * image(i, j);
      }
    }
    result(y, x) = sum;
  }
};
// example-end own-stencil

kastor::Image<float, Exec> noisy_image(std::int64_t ny, std::int64_t nx) {
  return ts::to_device<Exec>(ts::make_image<float>(ts::Pixels::uniform, ny, nx, 5));
}

Pixels smoothed_by_hand(const Exec& space, const Pixels& image,
                        const kastor::ConvolutionKernel& kernel) {
  const Kokkos::View<float**, Kokkos::LayoutRight> weights("weights", 5, 5);
  const auto host = Kokkos::create_mirror_view(weights);
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 5; ++x) host(y, x) = static_cast<float>(kernel.at(y, x));
  }
  Kokkos::deep_copy(weights, host);
  const Pixels result("result", image.extent(0), image.extent(1));
  Kokkos::parallel_for(
      "smooth",
      Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>(
          space, {0, 0},
          {static_cast<std::int64_t>(image.extent(0)), static_cast<std::int64_t>(image.extent(1))}),
      Smooth{image, result, weights});
  space.fence("test::smoothed_by_hand");
  return result;
}

TEST(GuideConvolve, OneCallReplacesTheStencil) {
  const Exec space;
  const Pixels image = noisy_image(61, 83);
  const kastor::ConvolutionKernel weights = kastor::gaussian_kernel(0.8, 5);
  const auto by_hand = ts::to_host_grid(smoothed_by_hand(space, image, weights));

  // example-begin convolve
  const kastor::ConvolutionKernel kernel = kastor::gaussian_kernel(/*sigma=*/0.8, /*size=*/5);
  kastor::ConvolveParams params;
  params.mode = kastor::ConvolveMode::same;
  const auto smooth = kastor::convolve(space, image, kernel, params);
  // example-end convolve

  const auto found = ts::to_host_grid(smooth);
  ASSERT_EQ(found.values.size(), by_hand.values.size());
  float difference = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    difference = std::max(difference, std::abs(found.values[i] - by_hand.values[i]));
  }
  EXPECT_LT(difference, 1e-6F);
  EXPECT_GT(difference, 0) << "the guide says that the separable form rounds otherwise";

  // example-begin convolve-direct
  params.method = kastor::ConvolveMethod::direct;
  const auto same_bits = kastor::convolve(space, image, kernel, params);
  // example-end convolve-direct
  EXPECT_TRUE(ts::same_pixels(ts::to_host_grid(same_bits), by_hand));
}

TEST(GuideConvolve, APlanServesManyImages) {
  const Exec space;
  const std::vector<Pixels> images = {noisy_image(40, 50), noisy_image(40, 50)};
  const Pixels result("result", 40, 50);
  int used = 0;
  const auto use = [&](const Pixels& smooth) {
    space.fence("test::use");
    used += std::isfinite(ts::to_host_grid(smooth).values.front()) ? 1 : 0;
  };

  // example-begin convolver
  kastor::ConvolveParams params;
  params.mode = kastor::ConvolveMode::same;
  kastor::Convolver<Exec, float> convolver(space, kastor::gaussian_kernel(2.5), params);
  for (const auto& image : images) {
    convolver(kastor::as_const_image<Exec>(image), result);  // enqueued, nothing allocated
    use(result);
  }
  // example-end convolver
  EXPECT_EQ(used, 2);
  EXPECT_EQ(convolver.method(), kastor::ConvolveMethod::separable);
  EXPECT_EQ(convolver.parts(), 1);
}

}  // namespace
