// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_PROGRESS_HPP
#define KASTOR_APPS_CLI_PROGRESS_HPP

#include <thread>

#include "cli/steps.hpp"

namespace kastor::cli {

/// One line on the terminal that names the step at work, once the work has lasted a second; erased
/// at the end.
class ProgressLine {
 public:
  explicit ProgressLine(const StepRecorder& steps);
  /// Erases the line.
  ~ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  std::jthread m_thread;
};

/// Whether somebody watches stderr.
[[nodiscard]] bool stderr_is_terminal();

}  // namespace kastor::cli

#endif
