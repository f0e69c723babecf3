// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_NOISE_FIELD_HPP
#define KASTOR_SRC_IO_EVALUATION_NOISE_FIELD_HPP

#include <cstdint>
#include <kastor/io/evaluation.hpp>
#include <vector>

namespace kastor::io::detail {

/// The correlation of neighbours among the pixels whose `clear` is not 0, from mean squares of
/// differences, which no level changes: 1 - D(1) / D(far), where `far` steps leave no correlation.
/// The noise may vary slowly. NaN if the image is too small.
[[nodiscard]] NoiseCorrelation measured_correlation(const EvaluatedImage& image,
                                                    const std::vector<std::uint8_t>& clear,
                                                    std::int64_t far);

}  // namespace kastor::io::detail

#endif
