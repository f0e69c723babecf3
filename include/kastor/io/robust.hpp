// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ROBUST_HPP
#define KASTOR_IO_ROBUST_HPP

#include <cstdint>
#include <limits>
#include <vector>

namespace kastor::io {

/// The median; for an even count the mean of the two middle values; NaN if there are none. The
/// values must not be NaN.
[[nodiscard]] double median_of(std::vector<double> values);

/// Location and scatter of values, insensitive to outliers.
struct RobustSpread {
  std::int64_t count = 0;                                    ///< number of finite values
  double median = std::numeric_limits<double>::quiet_NaN();  ///< NaN if there are none
  /// 1.4826 times the median absolute deviation from the median: for normally distributed values
  /// this is the standard deviation.
  double sigma = std::numeric_limits<double>::quiet_NaN();
};

/// Location and scatter of the finite values.
[[nodiscard]] RobustSpread robust_spread(std::vector<double> values);

}  // namespace kastor::io

#endif
