// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/work_shares.hpp>
#include <thread>
#include <vector>

namespace {

namespace kd = kastor::detail;

/// By one thread after the other, so that the first one takes everything.
TEST(WorkShares, HaveEachIndexOnce) {
  for (const std::int64_t threads : {1, 2, 3, 7, 128, 129, 1000}) {
    for (const std::int64_t n : {1, 2, 5, 127, 128, 4096, 100003}) {
      kd::WorkShares shares(n, threads);
      std::vector<int> visits(static_cast<std::size_t>(n), 0);
      for (std::int64_t t = threads - 1; t >= 0; --t)
        shares.for_each(t, [&](std::int64_t i) { ++visits.at(static_cast<std::size_t>(i)); });
      EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << n << " for " << threads;
    }
  }
}

TEST(WorkShares, HaveEachIndexOnceForThreadsAtOnce) {
  constexpr std::int64_t threads = 4, n = 200000;
  for (int repeat = 0; repeat < 20; ++repeat) {
    kd::WorkShares shares(n, threads);
    std::vector<std::atomic<int>> visits(n);
    std::vector<std::thread> crew;
    for (std::int64_t t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        shares.for_each(t, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      });
    for (std::thread& one : crew) one.join();
    for (const auto& count : visits) ASSERT_EQ(count, 1);
  }
}

TEST(WorkShares, BeginWithNeighbours) {
  kd::WorkShares shares(1000, 4);
  std::vector<std::int64_t> order;
  shares.for_each(2, [&](std::int64_t i) { order.push_back(i); });
  ASSERT_EQ(order.size(), 1000U);
  for (std::size_t k = 0; k < order.size(); ++k)
    EXPECT_EQ(order[k], (500 + static_cast<std::int64_t>(k)) % 1000);
}

/// A thread that does not get on with its first index until the other one has done all that it can.
TEST(WorkShares, AreTakenFromASlowThread) {
  constexpr std::int64_t n = 64;  // so few that each is taken for itself
  kd::WorkShares shares(n, 2);
  std::atomic<std::int64_t> by_other{0};
  std::atomic<bool> has_begun{false};
  std::int64_t by_slow = 0;
  std::thread slow([&] {
    shares.for_each(0, [&](std::int64_t) {
      has_begun = true;
      ++by_slow;
      const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (by_other < n - 1 && std::chrono::steady_clock::now() < patience)
        std::this_thread::yield();
    });
  });
  while (!has_begun) std::this_thread::yield();
  shares.for_each(1, [&](std::int64_t) { ++by_other; });
  slow.join();
  EXPECT_EQ(by_slow, 1);
  EXPECT_EQ(by_other, n - 1);
}

/// Notes who visits what; a worker remembers how much it has done.
struct NoteVisits {
  struct Visit {
    std::int64_t worker, before;
    int times = 0;
  };
  std::vector<Visit>* visits;

  [[nodiscard]] auto worker(std::int64_t k) const {
    return [this, k, done = std::int64_t{0}](std::int64_t i) mutable {
      Visit& visit = visits->at(static_cast<std::size_t>(i));
      visit = {k, done++, visit.times + 1};
    };
  }
};

template <class Exec>
void workers_visit_each_index_once() {
  const Exec space;
  for (const std::int64_t n : {1, 2, 5, 1000}) {
    std::vector<NoteVisits::Visit> visits(static_cast<std::size_t>(n));
    kd::for_each_index_of_workers("test::visits", space, n, NoteVisits{&visits});
    const auto workers = static_cast<std::size_t>(kd::workers_for(space, n));
    EXPECT_LE(workers, static_cast<std::size_t>(std::min<std::int64_t>(n, space.concurrency())));
    std::vector<std::vector<std::int64_t>> before(workers), counted(workers);
    for (const auto& visit : visits) {
      ASSERT_EQ(visit.times, 1);
      auto& of_worker = before.at(static_cast<std::size_t>(visit.worker));
      counted[static_cast<std::size_t>(visit.worker)].push_back(
          static_cast<std::int64_t>(of_worker.size()));
      of_worker.push_back(visit.before);
    }
    // A worker remembers from its first index to its last.
    for (auto& of_worker : before) std::sort(of_worker.begin(), of_worker.end());
    EXPECT_EQ(before, counted);
  }
}

TEST(WorkShares, OfWorkersHaveEachIndexOnce) {
  workers_visit_each_index_once<Kokkos::DefaultHostExecutionSpace>();
  workers_visit_each_index_once<Kokkos::Serial>();
}

}  // namespace
