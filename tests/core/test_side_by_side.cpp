// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <thread>

#include "core/group.hpp"
#include "core/launch.hpp"

#ifdef KOKKOS_ENABLE_SERIAL

namespace {

namespace core = kastor::core;

/// Two kernels that meet: each waits for the other, but not for ever.
struct Meeting {
  std::atomic<int>* arrived;
  bool* met;

  void wait() const {
    ++*arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived->load() < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    *met = arrived->load() == 2;
  }
};

/// Calls `launch(space, meeting)` in two threads, each on an instance of its own. Returns whether
/// the kernels ran at the same time.
template <class Launch>
bool run_side_by_side(const Launch& launch) {
  std::atomic<int> arrived = 0;
  bool met[2] = {false, false};
  const auto run = [&](bool& mine) {
    launch(Kokkos::Serial(Kokkos::NewInstance{}), Meeting{&arrived, &mine});
  };
  auto other = std::async(std::launch::async, [&] { run(met[1]); });
  run(met[0]);
  other.get();
  return met[0] && met[1];
}

struct MeetAt {
  Meeting meeting;
  void operator()(std::int64_t) const { meeting.wait(); }
  void operator()(const core::Group<Kokkos::Serial>&) const { meeting.wait(); }
};

struct MeetInScan {
  using value_type = std::int64_t;
  Meeting meeting;
  void operator()(std::int64_t, value_type& sum, bool is_final) const {
    if (is_final) meeting.wait();
    ++sum;
  }
};

TEST(CoreSideBySide, KernelsOfTwoInstancesOfSerial) {
  EXPECT_TRUE(run_side_by_side([](const Kokkos::Serial& space, const Meeting& meeting) {
    core::for_each("test::meet", space, 1, MeetAt{meeting});
  }));
  EXPECT_TRUE(run_side_by_side([](const Kokkos::Serial& space, const Meeting& meeting) {
    core::for_each_group<32>("test::meet", space, {1, 0}, MeetAt{meeting});
  }));
  EXPECT_TRUE(run_side_by_side([](const Kokkos::Serial& space, const Meeting& meeting) {
    core::scan("test::meet", space, 1, MeetInScan{meeting});
  }));
}

}  // namespace

#endif
