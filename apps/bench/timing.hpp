// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_TIMING_HPP
#define KASTOR_APPS_BENCH_TIMING_HPP

#include <functional>
#include <vector>

namespace kastor::bench {

/// How often a job is repeated, after a warm-up that does not count.
struct TimingRules {
  int repeats = 10;             ///< at least, if they fit into `seconds_most`  [>= 1]
  double seconds_least = 0.05;  ///< repeated further until all repeats together took this
  double seconds_most = 10;     ///< no repeat begins after this
  int repeats_most = 2000;      ///< unless `repeats` is more
};

/// What the repeats of a job took [s].
struct Timing {
  std::vector<double> seconds;  ///< in the order of the repeats
  double median = 0;
  double minimum = 0;
  double spread = 0;           ///< median absolute deviation from the median
  bool stopped_early = false;  ///< fewer repeats than asked for
};

/// \param seconds  at least one
[[nodiscard]] Timing make_timing(std::vector<double> seconds, bool stopped_early);

/// \param once  runs the job and tells its seconds. If the warm-up alone takes `seconds_most`, it
///              is the one repeat.
[[nodiscard]] Timing repeat(const TimingRules& rules, const std::function<double()>& once);

}  // namespace kastor::bench

#endif
