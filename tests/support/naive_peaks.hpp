// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_NAIVE_PEAKS_HPP
#define KASTOR_TESTS_NAIVE_PEAKS_HPP

#include <algorithm>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <limits>
#include <span>
#include <tuple>

#include "naive.hpp"

namespace testing_support {

/// The local maxima of islands among their eight neighbours, above a level of 0 with an rms of 1.
/// `labels`: those of one side, 1.. in the order of the islands.
template <class T>
[[nodiscard]] kastor::IslandPeaks peaks_naive(const HostImage<T>& image,
                                              const HostGrid<std::int64_t>& labels,
                                              std::span<const kastor::Island> islands,
                                              double sign = 1) {
  kastor::IslandPeaks peaks;
  for (std::int64_t y = 0; y < image.ny; ++y) {
    for (std::int64_t x = 0; x < image.nx; ++x) {
      const std::int64_t label = labels(y, x);
      if (label == 0) continue;
      bool is_peak = true;
      for (std::int64_t v = std::max<std::int64_t>(0, y - 1); v < std::min(image.ny, y + 2); ++v) {
        for (std::int64_t u = std::max<std::int64_t>(0, x - 1); u < std::min(image.nx, x + 2);
             ++u) {
          if (labels(v, u) != label) continue;
          const double here = sign * static_cast<double>(image(y, x));
          const double there = sign * static_cast<double>(image(v, u));
          const bool is_before = v * image.nx + u < y * image.nx + x;
          is_peak = is_peak && !(is_before ? there >= here : there > here);
        }
      }
      if (is_peak)
        peaks.push_back({islands[static_cast<std::size_t>(label - 1)].id,
                         static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), 1,
                         sign * static_cast<double>(image(y, x)), 1,
                         -std::numeric_limits<double>::infinity(), false});
    }
  }
  std::stable_sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) {
    return std::tie(a.island_id, b.deviation) < std::tie(b.island_id, a.deviation);
  });
  return peaks;
}

}  // namespace testing_support

#endif
