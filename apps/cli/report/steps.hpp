// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_STEPS_HPP
#define KASTOR_APPS_CLI_REPORT_STEPS_HPP

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace kastor::cli {

/// The steps of a run as a tree: those of the command, and within them the regions of the library,
/// which Kokkos reports through its tool callbacks. The library itself contains no timing code.
class StepRecorder {
 public:
  enum class Purpose { nothing, progress, timings };

  /// Construct it before Kokkos starts, and only one at a time. Kokkos fences at the ends of
  /// regions for timings only.
  explicit StepRecorder(Purpose purpose);
  ~StepRecorder();
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;

  /// Call it once Kokkos runs. It registers the callbacks, unless the user loaded a Kokkos tool,
  /// which then also receives the steps of the command.
  void attach();

  void begin(const char* name);
  void end();

  /// The innermost open step, for the progress line; empty between steps.
  [[nodiscard]] std::string current() const;
  /// The table of --timings.
  [[nodiscard]] std::string table(std::int64_t pixels) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Node {
    std::string name;
    std::vector<std::size_t> children;  // in order of first appearance
    std::int64_t calls = 0;
    double seconds = 0;
  };
  struct Open {
    std::size_t node;
    Clock::time_point since;
  };
  void rows_below(std::size_t node, int depth, double pixels, std::string& out) const;

  Purpose m_purpose;
  bool m_foreign_tool = false;
  Clock::time_point m_start = Clock::now();
  mutable std::mutex m_mutex;  // a separate thread draws the progress line
  std::vector<Node> m_nodes;   // [0] is the root
  std::vector<Open> m_open;
};

/// A step that lasts as long as this object.
class ScopedStep {
 public:
  ScopedStep(StepRecorder& recorder, const char* name) : m_recorder(recorder) {
    m_recorder.begin(name);
  }
  ~ScopedStep() { m_recorder.end(); }
  ScopedStep(const ScopedStep&) = delete;
  ScopedStep& operator=(const ScopedStep&) = delete;

 private:
  StepRecorder& m_recorder;
};

}  // namespace kastor::cli

#endif
