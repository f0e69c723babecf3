// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_TEAM_THREADS_HPP
#define KASTOR_TESTS_TEAM_THREADS_HPP

#include <functional>
#include <memory>

namespace testing_support {

/// What runs the threads of a team, and lets them wait for each other.
class TeamThreads {
 public:
  virtual ~TeamThreads() = default;
  /// Calls `work(rank)` for each of them and waits for all.
  virtual void run(const std::function<void(int rank)>& work) = 0;
  /// From `work` only: until all are here.
  virtual void wait() = 0;
};

/// Fibres, which take turns in an order that changes from barrier to barrier. That one throws, or
/// ends where others wait, is an exception of `run`. Without Boost.Context, for ThreadSanitizer,
/// and where the environment has KASTOR_TEST_REAL_THREADS=1, those of the operating system: much
/// slower, and they must do neither.
[[nodiscard]] bool team_threads_are_fibres();
[[nodiscard]] std::unique_ptr<TeamThreads> make_team_threads(int count);

}  // namespace testing_support

#endif
