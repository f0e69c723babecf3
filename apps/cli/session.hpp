// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_SESSION_HPP
#define KASTOR_APPS_CLI_SESSION_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cli/backends.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/steps.hpp"

namespace kastor::cli {

/// One run of a subcommand: Kokkos, the timings and what the user sees meanwhile.
class Session {
 public:
  explicit Session(const RunOptions& options);

  [[nodiscard]] StepRecorder& steps() { return m_steps; }
  [[nodiscard]] const KokkosSession& kokkos() const { return *m_kokkos; }

  /// Calls `visit(space)` on the chosen backend.
  template <class Visitor>
  void on_backend(Visitor&& visit) {
    with_memory_explained(
        [&] { cli::on_backend(m_kokkos->backend(), std::forward<Visitor>(visit)); });
  }

  /// Runs `job`; adds to a failed allocation what was free before it.
  static void with_memory_explained(const std::function<void()>& job);

  /// `readable_on()` as a step of its own, where there is something to copy.
  template <class Exec, class HostView>
  [[nodiscard]] auto upload(const Exec& space, const HostView& host) {
    if constexpr (is_host_space_v<Exec>) {
      return readable_on(space, host);
    } else {
      const ScopedStep step(m_steps, "upload");
      return readable_on(space, host);
    }
  }

  /// Erases the progress line: from here on the terminal is for results.
  void end_progress() { m_progress.reset(); }
  /// The last words, on stderr: a note (not with --quiet) and the timings (if asked for).
  void close(const std::string& note, std::int64_t pixels);

 private:
  RunOptions m_options;
  StepRecorder m_steps;
  std::optional<KokkosSession> m_kokkos;
  std::optional<ProgressLine> m_progress;
};

}  // namespace kastor::cli

#endif
