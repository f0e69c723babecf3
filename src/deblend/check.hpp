// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DEBLEND_CHECK_HPP
#define KASTOR_DEBLEND_CHECK_HPP

#include <cmath>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <kastor/error.hpp>
#include <span>
#include <string>

/// What a `Deblender` refuses.
namespace kastor::detail {

inline void check_deblend_params(const DeblendParams& params) {
  const char* const name = "kastor::Deblender";
  const auto expect = [&](bool is_so, const char* what, double value, const char* expected) {
    KASTOR_EXPECTS(name, is_so,
                   std::string(what) + " is " + std::to_string(value) + "; expected " + expected);
  };
  const auto is_not_negative = [](double x) { return std::isfinite(x) && x >= 0; };
  expect(is_not_negative(params.prominence), "prominence", params.prominence,
         "a finite number, 0 or more");
  expect(is_not_negative(params.min_peak), "min_peak", params.min_peak,
         "a finite number, 0 or more");
  expect(params.contrast >= 0 && params.contrast <= 1, "contrast", params.contrast, "0 to 1");
  const auto expect_pixels = [&](const char* what, std::int64_t n) {
    KASTOR_EXPECTS(name, n >= 1,
                   std::string(what) + " is " + std::to_string(n) + "; expected 1 or more");
  };
  expect_pixels("min_pixels", params.min_pixels);
  expect_pixels("min_size", params.min_size);
  KASTOR_EXPECTS(
      name, params.connectivity == Connectivity::four || params.connectivity == Connectivity::eight,
      "the connectivity is " + std::to_string(static_cast<int>(params.connectivity)) +
          "; expected 4 or 8");
}

/// Whether the islands lie below the background.
template <class Exec>
[[nodiscard]] bool check_islands(std::span<const Island> islands, const RunLabels<Exec>& labels) {
  const char* const name = "kastor::Deblender";
  KASTOR_EXPECTS(name, static_cast<std::int64_t>(islands.size()) == labels.components,
                 "there are " + std::to_string(islands.size()) + " islands and " +
                     std::to_string(labels.components) + " labels; expected as many, of one side");
  KASTOR_EXPECTS(name, labels.starts.words.data() == nullptr,
                 "the labels are those of children; expected those of an IslandFinder");
  KASTOR_EXPECTS(name, labels.foreground_pixels < std::int64_t{0xffffffff},
                 "the labels have " + std::to_string(labels.foreground_pixels) +
                     " pixels; expected fewer than 4294967295");
  const bool is_below = !islands.empty() && (islands[0].flags & island_negative) != 0;
  for (const Island& island : islands) {
    KASTOR_EXPECTS(name, ((island.flags & island_negative) != 0) == is_below,
                   "island " + std::to_string(island.id) +
                       " is on the other side of the background; expected islands of one side");
  }
  return is_below;
}

}  // namespace kastor::detail

#endif
