// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_PROGRESS_HPP
#define KASTOR_APPS_CLI_REPORT_PROGRESS_HPP

#include <functional>
#include <string>
#include <thread>

namespace kastor::cli {

/// A line on the terminal that shows what is running, from one second after the start. It is erased
/// at the end.
class ProgressLine {
 public:
  /// \param text  returns what to show, empty for nothing; a separate thread calls it
  explicit ProgressLine(std::function<std::string()> text);
  /// Erases the line.
  ~ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  std::jthread m_thread;
};

/// The name of a step for display: "kastor::sigma_clip::bracket" is "sigma clip: bracket".
[[nodiscard]] std::string readable_step(std::string name);
/// "[####......] 12 of 30 images, 8 a second"
[[nodiscard]] std::string progress_bar(std::size_t done, std::size_t all, double seconds);

/// Whether stderr is a terminal.
[[nodiscard]] bool stderr_is_terminal();

}  // namespace kastor::cli

#endif
