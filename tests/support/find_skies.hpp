// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_FIND_SKIES_HPP
#define KASTOR_TESTS_FIND_SKIES_HPP

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/simulate.hpp>
#include <kastor/source_finder.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"

/// Skies and parameters on which `SourceFinder` is tried, and the comparison of its results.
namespace testing_support {

/// A simulated sky with blank edges and a few blank pixels inside, as a mosaic has them.
template <class Exec, class T>
[[nodiscard]] HostImage<T> mosaic(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  kastor::SkyParams params;
  params.ny = ny;
  params.nx = nx;
  params.seed = seed;
  params.sources_per_mpx = 400;
  const auto image = new_image<Exec, T>("test::sky", ny, nx);
  kastor::simulate_sky<Exec, T>(Exec{}, params, kastor::sky_truth(params), image);
  HostImage<T> sky = to_host_grid(image);
  Random random(seed);
  for (std::int64_t y = 0; y < ny; ++y) {
    for (std::int64_t x = 0; x < nx; ++x) {
      if (x < y / 10 || random.below(2000) == 0) sky(y, x) = std::numeric_limits<T>::quiet_NaN();
    }
  }
  sky(ny / 2, nx - 1) = std::numeric_limits<T>::infinity();
  sky(ny / 2, nx - 2) = -std::numeric_limits<T>::infinity();
  return sky;
}

[[nodiscard]] inline ::testing::AssertionResult same_bits(const kastor::FindResult& a,
                                                          const kastor::FindResult& b) {
  if (auto same = same_bits(a.clip, b.clip); !same) return same;
  auto same = FieldComparison()
                  .field("threshold", a.threshold, b.threshold)
                  .field("foreground_pixels", a.foreground_pixels, b.foreground_pixels)
                  .result();
  if (!same) return same;
  return same_bits(a.sources, b.sources);
}

/// One parameter set for each thing that can be chosen.
[[nodiscard]] inline std::vector<std::pair<std::string, kastor::FindParams>> find_parameter_sets() {
  std::vector<std::pair<std::string, kastor::FindParams>> sets;
  const auto add = [&](const char* name, const auto& change) {
    kastor::FindParams params;
    change(params);
    sets.emplace_back(name, params);
  };
  add("defaults", [](kastor::FindParams&) {});
  add("about the median", [](kastor::FindParams& p) { p.about = kastor::ThresholdAbout::median; });
  add("3 sigma, 8-connectivity", [](kastor::FindParams& p) {
    p.threshold = 3;
    p.label.connectivity = kastor::Connectivity::eight;
  });
  add("at least 7 pixels", [](kastor::FindParams& p) {
    p.threshold = 4;
    p.label.min_pixels = 7;
  });
  add("a negative threshold", [](kastor::FindParams& p) { p.threshold = -1; });
  add("an absolute level", [](kastor::FindParams& p) { p.level = 0.1; });
  add("a negative level", [](kastor::FindParams& p) { p.level = -0.02; });
  add("one pass of kappa 2", [](kastor::FindParams& p) {
    p.clip.kappa = 2;
    p.clip.max_passes = 1;
  });
  add("nothing above it", [](kastor::FindParams& p) { p.level = 1e6; });
  return sets;
}

}  // namespace testing_support

#endif
