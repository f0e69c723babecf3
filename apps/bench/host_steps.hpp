// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_HOST_STEPS_HPP
#define KASTOR_APPS_BENCH_HOST_STEPS_HPP

#include <string>

#include "bench/steps.hpp"
#include "bench/table.hpp"

/// Steps that know no backends.
namespace kastor::bench {

[[nodiscard]] StepRows time_kernel(const TimingRules& rules);

/// The sky into the file of that name, which is overwritten, and back.
[[nodiscard]] StepRows time_fits_write(const Images& images, const std::string& path,
                                       const TimingRules& rules);
/// Compared with the sky.
[[nodiscard]] StepRows time_fits_read(const Images& images, const std::string& path,
                                      const TimingRules& rules);

}  // namespace kastor::bench

#endif
