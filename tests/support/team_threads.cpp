// SPDX-License-Identifier: Apache-2.0
#include "team_threads.hpp"

#include <barrier>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#ifdef KASTOR_TEST_FIBRES
#include "team_fibres.hpp"
#endif

#if defined(__SANITIZE_THREAD__)
#define KASTOR_TEST_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KASTOR_TEST_THREAD_SANITIZER 1
#endif
#endif

namespace testing_support {

namespace {

class RealThreads final : public TeamThreads {
 public:
  explicit RealThreads(int count) : m_count(count), m_barrier(count) {}
  void run(const std::function<void(int)>& work) override {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < m_count; ++rank) threads.emplace_back(work, rank);
  }
  void wait() override { m_barrier.arrive_and_wait(); }

 private:
  int m_count;
  std::barrier<> m_barrier;
};

}  // namespace

bool team_threads_are_fibres() {
#if defined(KASTOR_TEST_FIBRES) && !defined(KASTOR_TEST_THREAD_SANITIZER)
  const char* const real = std::getenv("KASTOR_TEST_REAL_THREADS");
  return real == nullptr || std::string_view(real) != "1";
#else
  return false;
#endif
}

std::unique_ptr<TeamThreads> make_team_threads(int count) {
#ifdef KASTOR_TEST_FIBRES
  if (team_threads_are_fibres()) return std::make_unique<TeamFibres>(count);
#endif
  return std::make_unique<RealThreads>(count);
}

}  // namespace testing_support
