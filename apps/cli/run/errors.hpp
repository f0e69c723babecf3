// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_ERRORS_HPP
#define KASTOR_APPS_CLI_RUN_ERRORS_HPP

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::cli {

/// The exit codes of the process; there are no others.
enum ExitCode : int {
  exit_done = 0,
  exit_failure = 1,  ///< files, data, memory or devices
  exit_usage = 2     ///< the command line itself
};

/// The command line is wrong; the process exits with `exit_usage`.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `text` on one line of valid UTF-8: lines are joined by "; ", and other control characters are
/// replaced, whatever a library, a header or a file name puts into it.
[[nodiscard]] std::string one_line(std::string_view text);

/// The same in less than 1000 bytes, for a failure or a note: a longer one has "..." in its middle.
[[nodiscard]] std::string message_line(std::string_view text);
[[nodiscard]] std::vector<std::string> message_lines(const std::vector<std::string>& texts);

/// Whether the text of an exception reports a failed allocation, for which Kokkos has no type.
[[nodiscard]] bool is_failed_allocation(std::string_view what);

/// Runs `job`, and returns the failure as one line; empty if there is none. A kastor::Error names
/// its file itself; other failures are prefixed with `subject`.
[[nodiscard]] std::string failure_of(const std::string& subject, const std::function<void()>& job);

/// Runs `job` and turns every exception into one line on stderr and an exit code.
[[nodiscard]] int run_guarded(const std::function<void()>& job) noexcept;

}  // namespace kastor::cli

#endif
