// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_HOST_STEPS_HPP
#define KASTOR_APPS_BENCH_HOST_STEPS_HPP

#include <string>

#include "bench/steps.hpp"
#include "bench/table.hpp"

/// Steps that do not depend on a backend.
namespace kastor::bench {

[[nodiscard]] StepRows time_kernel(const TimingRules& rules);

/// Times writing the sky to the file of that name, which is overwritten, and reading it back.
[[nodiscard]] StepRows time_fits_write(const Images& images, const std::string& path,
                                       const TimingRules& rules);
/// The pixels read are compared with the sky.
[[nodiscard]] StepRows time_fits_read(const Images& images, const std::string& path,
                                      const TimingRules& rules);

}  // namespace kastor::bench

#endif
