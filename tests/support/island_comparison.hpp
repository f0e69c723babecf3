// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ISLAND_COMPARISON_HPP
#define KASTOR_TESTS_ISLAND_COMPARISON_HPP

#include <gtest/gtest.h>

#include <cstdint>
#include <kastor/island_finder.hpp>

#include "compare.hpp"

/// Whether islands have the same bits.
namespace testing_support {

inline ::testing::AssertionResult same_figures(const kastor::Island& a, const kastor::Island& b) {
  return FieldComparison()
      .field("n_pix", a.n_pix, b.n_pix)
      .field("x_min", a.x_min, b.x_min)
      .field("x_max", a.x_max, b.x_max)
      .field("y_min", a.y_min, b.y_min)
      .field("y_max", a.y_max, b.y_max)
      .field("x_peak", a.x_peak, b.x_peak)
      .field("y_peak", a.y_peak, b.y_peak)
      .field("flux_peak", a.flux_peak, b.flux_peak)
      .field("flux_sum", a.flux_sum, b.flux_sum)
      .field("raw_sum", a.raw_sum, b.raw_sum)
      .field("snr_peak", a.snr_peak, b.snr_peak)
      .field("x_cen", a.x_cen, b.x_cen)
      .field("y_cen", a.y_cen, b.y_cen)
      .field("var_xx", a.var_xx, b.var_xx)
      .field("var_xy", a.var_xy, b.var_xy)
      .field("var_yy", a.var_yy, b.var_yy)
      .field("background", a.background, b.background)
      .field("rms", a.rms, b.rms)
      .field("rms_at_peak", a.rms_at_peak, b.rms_at_peak)
      .field("background_at_peak", a.background_at_peak, b.background_at_peak)
      .field("flags", std::int64_t{a.flags}, std::int64_t{b.flags})
      .result();
}

inline ::testing::AssertionResult same_counts(const kastor::IslandCounts& a,
                                              const kastor::IslandCounts& b) {
  return FieldComparison()
      .field("islands", a.islands, b.islands)
      .field("dropped", a.dropped, b.dropped)
      .field("foreground_pixels", a.foreground_pixels, b.foreground_pixels)
      .result();
}

inline ::testing::AssertionResult same_bits(const kastor::IslandResult& a,
                                            const kastor::IslandResult& b) {
  if (auto same = same_counts(a.positive, b.positive); !same) return same << " (positive)";
  if (auto same = same_counts(a.negative, b.negative); !same) return same << " (negative)";
  if (a.islands.size() != b.islands.size()) {
    return ::testing::AssertionFailure()
           << a.islands.size() << " islands and " << b.islands.size() << " islands";
  }
  for (std::size_t i = 0; i < a.islands.size(); ++i) {
    if (a.islands[i].id != b.islands[i].id)
      return ::testing::AssertionFailure() << "the ids of row " << i << " differ";
    if (auto same = same_figures(a.islands[i], b.islands[i]); !same) return same << " in row " << i;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace testing_support

#endif
