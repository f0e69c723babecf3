// SPDX-License-Identifier: Apache-2.0
#include "find/relative_weights.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <limits>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {
namespace {

/// `visit(y, x, weight)` for all pixels.
template <class Visit>
void for_each_weight(const io::FitsImage& read, const Visit& visit) {
  std::visit(
      [&](const auto& pixels) {
        for (std::int64_t y = 0; y < read.ny; ++y) {
          for (std::int64_t x = 0; x < read.nx; ++x) visit(y, x, static_cast<double>(pixels(y, x)));
        }
      },
      read.pixels);
}

template <class T>
io::HostPixels<T> new_pixels(const io::FitsImage& read) {
  return io::HostPixels<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kastor::app::weights"),
                           static_cast<std::size_t>(read.ny), static_cast<std::size_t>(read.nx));
}

}  // namespace

template <class T>
RelativeWeights<T> relative_weights(const io::FitsImage& read, const char* option,
                                    const BitMask<Kokkos::DefaultHostExecutionSpace>& usable,
                                    std::int64_t& without) {
  std::vector<double> weights;
  std::int64_t negative = 0, first_x = 0, first_y = 0;
  without = 0;
  for_each_weight(read, [&](std::int64_t y, std::int64_t x, double weight) {
    if (weight < 0) {
      if (negative == 0) {
        first_x = x;
        first_y = y;
      }
      ++negative;
    }
    std::uint64_t& word = usable.words(y, x / 64);
    const std::uint64_t bit = std::uint64_t{1} << (x % 64);
    if ((word & bit) == 0) return;
    if (std::isfinite(weight) && weight > 0) {
      weights.push_back(weight);
    } else {
      word &= ~bit;
      ++without;
    }
  });
  if (negative > 0) {
    throw Error(fmt::format(
        "{}: found {}, the first at x = {}, y = {}; expected weights of 0 or more (read for {})",
        name_of(read), count_of(negative, "negative value"), first_x, first_y, option));
  }
  RelativeWeights<T> result{new_pixels<T>(read), new_pixels<T>(read)};
  double median = 1;
  if (!weights.empty()) {
    const auto middle = weights.begin() + static_cast<std::ptrdiff_t>((weights.size() - 1) / 2);
    std::nth_element(weights.begin(), middle, weights.end());
    median = *middle;
  }
  for_each_weight(read, [&](std::int64_t y, std::int64_t x, double weight) {
    const double root = weight > 0 && std::isfinite(weight)
                            ? std::sqrt(weight / median)
                            : std::numeric_limits<double>::quiet_NaN();
    result.root(y, x) = static_cast<T>(root);
    result.noise(y, x) = static_cast<T>(1 / root);
  });
  return result;
}

template RelativeWeights<float> relative_weights(const io::FitsImage&, const char*,
                                                 const BitMask<Kokkos::DefaultHostExecutionSpace>&,
                                                 std::int64_t&);
template RelativeWeights<double> relative_weights(const io::FitsImage&, const char*,
                                                  const BitMask<Kokkos::DefaultHostExecutionSpace>&,
                                                  std::int64_t&);

}  // namespace kastor::cli
