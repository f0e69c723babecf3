// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_MEASURE_STATISTICS_HPP
#define KASTOR_SRC_IO_EVALUATION_MEASURE_STATISTICS_HPP

#include <kastor/io/evaluation.hpp>
#include <span>
#include <vector>

namespace kastor::io::detail {

/// Of the finite values.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// The limits of the bins, with infinity at the end.
[[nodiscard]] std::vector<double> bin_limits(const std::vector<double>& limits);

/// Counts by S/N; only bins that have any.
[[nodiscard]] std::vector<ShareBin> share_bins(const std::vector<double>& limits,
                                               std::span<const double> snr,
                                               std::span<const int> matched);

/// Sets the pool and the bins of a measure, from the isolated pairs.
void summarise(const std::vector<EvaluatedPair>& pairs, const EvaluationParams& params,
               Measure& measure);

}  // namespace kastor::io::detail

#endif
