// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_TIMING_HPP
#define KASTOR_APPS_BENCH_TIMING_HPP

#include <functional>
#include <vector>

namespace kastor::bench {

/// The rules for repeating a job, after a warm-up that does not count.
struct TimingRules {
  int repeats = 10;             ///< the minimum, if it fits into `seconds_most`  [>= 1]
  double seconds_least = 0.05;  ///< the repeats go on until they took this long in total
  double seconds_most = 10;     ///< no repeat starts after this
  int repeats_most = 2000;      ///< the maximum, unless `repeats` is larger
};

/// The times of the repeats of a job [s].
struct Timing {
  std::vector<double> seconds;  ///< in the order of the repeats
  double median = 0;
  double minimum = 0;
  double spread = 0;           ///< median absolute deviation from the median
  bool stopped_early = false;  ///< fewer repeats than asked for
};

/// \param seconds  at least one
[[nodiscard]] Timing make_timing(std::vector<double> seconds, bool stopped_early);

/// \param once  runs the job and returns its seconds. If the warm-up alone takes `seconds_most`, it
///              counts as the only repeat.
[[nodiscard]] Timing repeat(const TimingRules& rules, const std::function<double()>& once);

}  // namespace kastor::bench

#endif
