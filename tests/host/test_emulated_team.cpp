// SPDX-License-Identifier: Apache-2.0

// What plays the threads of a device's team.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <kastor/detail/crew.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated_team.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

struct Kernel {
  static constexpr int threads = 96;
  static constexpr int scratch_bytes = 64;
  const std::function<void(const ts::EmulatedMember&)>* work;
  KOKKOS_FUNCTION void operator()(const ts::EmulatedMember& team) const {
    KOKKOS_IF_ON_HOST(((*work)(team);))
  }
};

void run(int league, const std::function<void(const ts::EmulatedMember&)>& work) {
  ts::EmulatedLauncher{}("kernel", league, Kernel{&work});
}

TEST(EmulatedTeam, JoinsWhatItsThreadsHave) {
  std::vector<int> wrong(3);
  run(3, [&](const ts::EmulatedMember& team) {
    const kd::TeamCrew<ts::EmulatedMember> crew(team);
    const std::int64_t rank = crew.rank();
    const std::int64_t sum = crew.sum(rank), before = crew.sum_before(rank);
    const bool is_right = sum == 95 * 96 / 2 && before == rank * (rank - 1) / 2 &&
                          crew.smallest(100 - rank) == 5 && crew.size() == 96;
    if (!is_right) Kokkos::atomic_add(&wrong[static_cast<std::size_t>(team.league_rank())], 1);
  });
  EXPECT_THAT(wrong, testing::Each(0));
}

/// Every thread sees what all wrote before a barrier, and nothing of what they write behind it.
TEST(EmulatedTeam, WaitsAtBarriers) {
  constexpr int rounds = 20;
  std::vector<int> written(96);
  std::vector<int> sums(96 * rounds);
  run(1, [&](const ts::EmulatedMember& team) {
    for (int round = 0; round < rounds; ++round) {
      written[static_cast<std::size_t>(team.team_rank())] = round;
      team.team_barrier();
      int sum = 0;
      for (const int value : written) sum += value;
      sums[static_cast<std::size_t>(team.team_rank() * rounds + round)] = sum;
      team.team_barrier();
    }
  });
  for (int i = 0; i < 96 * rounds; ++i)
    EXPECT_EQ(sums[static_cast<std::size_t>(i)], 96 * (i % rounds));
}

TEST(EmulatedTeam, SaysThatABarrierIsMissing) {
  if (!ts::team_threads_are_fibres()) GTEST_SKIP() << "threads would wait for ever";
  std::vector<int> begun(96);
  const auto work = [&](const ts::EmulatedMember& team) {
    const auto rank = static_cast<std::size_t>(team.team_rank());
    ++begun[rank];
    if (rank % 3 != 0) team.team_barrier();
  };
  try {
    run(1, work);
    FAIL() << "it was not noticed";
  } catch (const std::logic_error& error) {
    // A third goes on to the barrier at the end of the kernel, and all are where the others wait.
    EXPECT_THAT(error.what(), testing::HasSubstr("64 of 96 threads wait at a barrier"));
  }
  EXPECT_THAT(begun, testing::Each(1));
}

TEST(EmulatedTeam, PassesOnWhatAThreadThrows) {
  if (!ts::team_threads_are_fibres()) GTEST_SKIP() << "of a thread it would end the program";
  for (const int thrower : {0, 40, 95}) {
    EXPECT_THROW(run(2,
                     [&](const ts::EmulatedMember& team) {
                       team.team_barrier();
                       if (team.team_rank() == thrower) throw std::out_of_range("thrown");
                       team.team_barrier();
                     }),
                 std::out_of_range);
  }
}

}  // namespace
