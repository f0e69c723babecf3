// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_TEAM_FIBRES_HPP
#define KASTOR_TESTS_TEAM_FIBRES_HPP

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <random>
#include <vector>

#include "team_threads.hpp"

namespace testing_support {

class TeamFibres final : public TeamThreads {
 public:
  explicit TeamFibres(int count) : m_fibres(static_cast<std::size_t>(count)) {}
  /// @throws std::logic_error if some end while others wait; what a fibre throws.
  void run(const std::function<void(int)>& work) override;
  void wait() override;

 private:
  struct Fibre {
    boost::context::fiber own;     ///< where it goes on; empty once it has ended
    boost::context::fiber runner;  ///< where `run` goes on
    const void* stack = nullptr;
  };
  struct Stop {};  ///< ends a fibre

  void begin(std::size_t rank, const std::function<void(int)>& work);
  void resume(std::size_t rank);
  /// Resumes all once; how many of them wait for the others then.
  std::size_t let_all_reach_the_barrier();
  void stop_all();

  std::vector<Fibre> m_fibres;
  std::size_t m_running = 0;
  bool m_is_stopping = false;
  std::exception_ptr m_thrown;
  std::minstd_rand m_order;  ///< the same one each time

  // What AddressSanitizer wants to know. The fake stack, where it keeps what might be used after a
  // return, is the same for all: of its own a fibre would get megabytes, each time anew.
  const void* m_runner_stack = nullptr;  ///< of the thread that called `run`
  std::size_t m_runner_stack_size = 0;
  void* m_fake_stack = nullptr;
};

}  // namespace testing_support

#endif
