// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_OPTIONS_HPP
#define KASTOR_APPS_BENCH_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/timing.hpp"
#include "cli/options/options.hpp"

namespace kastor::bench {

struct BenchOptions {
  std::int64_t size = 2048;  ///< width and height [pixel]
  cli::PixelType type = cli::PixelType::float32;
  TimingRules rules;
  std::vector<std::string> on;  ///< empty: every usable backend
  bool peers = false;
  std::optional<std::string> python;
  bool json = false;
  cli::RunOptions run;
};

/// False if help was asked for and printed. \throws UsageError
[[nodiscard]] bool parse(cli::Arguments arguments, BenchOptions& options);

}  // namespace kastor::bench

#endif
