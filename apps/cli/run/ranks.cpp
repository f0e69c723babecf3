// SPDX-License-Identifier: Apache-2.0
#include "cli/run/ranks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <kastor/error.hpp>
#include <kastor/version.hpp>
#include <string>
#include <string_view>

#include "cli/options/numbers.hpp"

namespace kastor::cli {
namespace {

Communicator* ranks_in_use = nullptr;

/// The first of these variables of the environment that is a number above 0.
int number_in_environment(std::span<const char* const> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    if (const auto number = whole_number<int>(text); number && *number > 0) return *number;
  }
  return 1;
}

}  // namespace

int launched_processes() {
  const char* use = std::getenv("KASTOR_MPI");
  if (use != nullptr && std::string_view(use) == "off") return 1;
  // Of Open MPI, MPICH's Hydra, and Slurm's srun.
  static constexpr std::array names{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  return number_in_environment(names);
}

int processes_on_machine() {
  if (launched_processes() == 1) return 1;
  static constexpr std::array names{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                    "SLURM_STEP_TASKS_PER_NODE"};
  return number_in_environment(names);
}

Communicator* ranks() { return ranks_in_use; }

RanksInUse::RanksInUse(Communicator& all) { ranks_in_use = &all; }
RanksInUse::~RanksInUse() { ranks_in_use = nullptr; }

bool speaks() { return ranks_in_use == nullptr || ranks_in_use->rank() == 0; }
bool reports_failures() { return speaks() || !ranks_in_use->has_failed(); }

void share_failure() noexcept {
  if (ranks_in_use == nullptr || ranks_in_use->has_failed()) return;
  try {
    ranks_in_use->agree(std::current_exception(), "usage");
  } catch (...) {
    return;  // it throws what it was given
  }
}

void compare_ranks(std::span<char* const> arguments) {
  if (ranks_in_use == nullptr) return;
  std::string all = version();
  for (const char* argument : arguments) all += std::string(1, '\0') + argument;
  const auto pieces = ranks_in_use->gather(std::as_bytes(std::span(all)));
  if (std::all_of(pieces.begin(), pieces.end(), [&](const auto& p) { return p == pieces[0]; }))
    return;
  ranks_in_use->agree(std::make_exception_ptr(
      Error("the processes that the launcher has started have different arguments or versions of "
            "Kastor; expected the same for all of them, or KASTOR_MPI=off in the environment if "
            "each is to work alone")));
}

void expect_one_process(const char* subcommand) {
  if (ranks_in_use == nullptr) return;
  ranks_in_use->agree(std::make_exception_ptr(
      Error(std::string(subcommand) + " is the work of one process; found " +
            std::to_string(ranks_in_use->size()) +
            " (KASTOR_MPI=off in the environment lets each work alone)")));
}

}  // namespace kastor::cli
