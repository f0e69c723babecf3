// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_BRACKETS_HPP
#define KASTOR_DETAIL_BRACKETS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/moments.hpp>
#include <optional>
#include <vector>

namespace kastor::detail {

/// Where a sample says that the clip's medians and limits can fall. Pixels between the edges but
/// outside the window survive every pass and are in no median: the core.
template <class T>
struct Brackets {
  T low_edge = 0;    ///< core pixels are strictly above
  T window_low = 0;  ///< every median lies in [window_low, window_high]
  T window_high = 0;
  T high_edge = 0;      ///< core pixels are strictly below
  T centre = 0;         ///< the sample's median, inside the window
  double gathered = 0;  ///< expected share of pixels outside the core that must be kept

  /// Pixels of a window of one value are all alike: counting them is enough.
  [[nodiscard]] KOKKOS_FUNCTION bool window_is_one_value() const {
    return window_low == window_high;
  }
};

/// Brackets from the clip of a sorted sample of finite pixels (Floyd and Rivest's idea, CACM 18
/// (1975) 165: sample ranks bound the ranks of all). `widen` multiplies the safety margins. None if
/// the sample is of no use: ties, constants, heavy tails.
template <class T>
[[nodiscard]] std::optional<Brackets<T>> brackets_from_sample(const std::vector<T>& sorted,
                                                              double kappa, int max_passes,
                                                              double widen) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  if (n < 1024) return std::nullopt;
  const double centre = static_cast<double>(sorted[static_cast<std::size_t>(n / 2)]);
  // Distances in units of the quartile range, so that squares neither overflow nor vanish.
  const double spread = static_cast<double>(sorted[static_cast<std::size_t>(3 * n / 4)]) * 0.5 -
                        static_cast<double>(sorted[static_cast<std::size_t>(n / 4)]) * 0.5;
  if (!(spread > 1e-290) || !(spread < 1e290)) return std::nullopt;

  const auto at = [&](std::int64_t i) {
    return static_cast<double>(
        sorted[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n - 1))]);
  };
  std::int64_t first = 0;
  std::int64_t last = n;
  std::int64_t window_first = n;
  std::int64_t window_last = -1;
  double sigma = 0;
  double low = 0;
  double high = 0;
  double sum = 0;
  double squares = 0;
  const auto add = [&](std::int64_t i, double sign) {
    const double d = (at(i) - centre) / spread;
    sum += sign * d;
    squares += sign * d * d;
  };
  for (int pass = 1;; ++pass) {
    // Added up anew: what an outlier of 1e30 leaves behind when it is subtracted is not the rest.
    sum = squares = 0;
    for (std::int64_t i = first; i < last; ++i) add(i, 1);
    const auto count = static_cast<double>(last - first);
    const std::int64_t middle = first + (last - first) / 2;
    const double variance = (squares - sum * (sum / count)) / count;
    if (!(variance > 0)) return std::nullopt;
    sigma = std::sqrt(variance) * spread;
    const auto ranks = static_cast<std::int64_t>(std::ceil(3.0 * widen * std::sqrt(count))) + 2;
    window_first = std::min(window_first, middle - ranks);
    window_last = std::max(window_last, middle + ranks);
    const double median = 0.5 * (at(middle) + at(middle - ((last - first) % 2 == 0 ? 1 : 0)));
    low = median - kappa * sigma;
    high = median + kappa * sigma;
    const auto begin = sorted.begin();
    const auto new_first =
        std::max<std::int64_t>(first, std::upper_bound(begin, sorted.end(), low) - begin);
    const auto new_last =
        std::min<std::int64_t>(last, std::lower_bound(begin, sorted.end(), high) - begin);
    if (new_last <= new_first) return std::nullopt;
    if ((new_first == first && new_last == last) || pass == max_passes) break;
    first = new_first;
    last = new_last;
  }

  // Several standard errors of a limit, and room for how a different pixel at a limit moves the
  // next ones.
  const double margin = widen * kappa * sigma * 15.0 / std::sqrt(static_cast<double>(last - first));
  // A core within a few sigmas keeps its squares well above the step of their grid; for a large
  // kappa the rest is gathered.
  const double reach = 6 * sigma;
  const Interval<T> edges =
      interval_between<T>(std::max(low + margin, 0.5 * (low + high) - reach),
                          std::min(high - margin, 0.5 * (low + high) + reach));
  Brackets<T> brackets;
  brackets.low_edge = edges.low;
  brackets.high_edge = edges.high;
  brackets.window_low = static_cast<T>(at(window_first));
  brackets.window_high = static_cast<T>(at(window_last));
  brackets.centre = static_cast<T>(centre);
  if (!(brackets.low_edge < brackets.window_low) || !(brackets.window_high < brackets.high_edge)) {
    return std::nullopt;
  }
  std::int64_t kept = 0;
  for (const T x : sorted) {
    const bool tail = !(x > brackets.low_edge && x < brackets.high_edge);
    const bool window = x >= brackets.window_low && x <= brackets.window_high;
    kept += tail || (window && !brackets.window_is_one_value()) ? 1 : 0;
  }
  brackets.gathered = static_cast<double>(kept) / static_cast<double>(n);
  return brackets;
}

}  // namespace kastor::detail

#endif
