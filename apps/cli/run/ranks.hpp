// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_RANKS_HPP
#define KASTOR_APPS_CLI_RUN_RANKS_HPP

#include <functional>
#include <kastor/communicator.hpp>
#include <span>

/// The processes that a launcher (mpirun, srun) has started to work on one thing.
namespace kastor::cli {

/// How many the environment says there are; 1 without a launcher, and with KASTOR_MPI=off.
[[nodiscard]] int launched_processes();
/// How many of them run on this machine.
[[nodiscard]] int processes_on_machine();

/// All of them; null if this process works alone.
[[nodiscard]] Communicator* ranks();
/// Sets them, for the life of the object.
class RanksInUse {
 public:
  explicit RanksInUse(Communicator& all);
  ~RanksInUse();
  RanksInUse(const RanksInUse&) = delete;
  RanksInUse& operator=(const RanksInUse&) = delete;
};

/// Whether this process prints and writes: the first of them, or one alone.
[[nodiscard]] bool speaks();
/// Whether a failure is to be printed here: once, if all processes know of it.
[[nodiscard]] bool reports_failures();

/// Tells the other processes of the current exception, which they have met as well: wrong usage.
void share_failure() noexcept;

/// Calls `run`, which returns an exit code, as one of the processes that a launcher has started. In
/// a build without MPI it only calls it. If a process fails in a way that the others do not know
/// of, it ends all of them.
[[nodiscard]] int run_launched(const std::function<int()>& run);

/// \throws Error if the processes have different arguments or versions of Kastor
void compare_ranks(std::span<char* const> arguments);
/// \throws Error if there are several processes, and this subcommand is the work of one
void expect_one_process(const char* subcommand);

}  // namespace kastor::cli

#endif
