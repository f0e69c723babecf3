// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ROBUST_HPP
#define KASTOR_IO_ROBUST_HPP

#include <cstdint>
#include <limits>
#include <vector>

namespace kastor::io {

/// The median, of an even count the mean of the two middle ones; NaN of nothing. The values must
/// not be NaN.
[[nodiscard]] double median_of(std::vector<double> values);

/// Where values lie and how far they scatter, however wild a few of them are.
struct RobustSpread {
  std::int64_t count = 0;                                    ///< of the values
  double median = std::numeric_limits<double>::quiet_NaN();  ///< NaN without values
  /// 1.4826 times the median absolute deviation from the median: the standard deviation, if the
  /// values are normally distributed.
  double sigma = std::numeric_limits<double>::quiet_NaN();
};

/// Of the finite values.
[[nodiscard]] RobustSpread robust_spread(std::vector<double> values);

}  // namespace kastor::io

#endif
