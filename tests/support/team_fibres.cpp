// SPDX-License-Identifier: Apache-2.0
#include "team_fibres.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define KASTOR_TEST_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KASTOR_TEST_ADDRESSES 1
#endif
#endif
#ifdef KASTOR_TEST_ADDRESSES
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace testing_support {

namespace {

constexpr std::size_t stack_size = 128 * 1024;
constexpr std::size_t guard_size = 256;  ///< at the end that is used last
constexpr std::byte guard{0xa5};

/// Stacks of the fibres that were, for those that come: to ask the system for each would take more
/// time than most kernels.
class Stacks {
 public:
  using Memory = std::unique_ptr<std::byte[]>;
  [[nodiscard]] Memory take() {
    if (m_free.empty()) {
      Memory stack(new std::byte[stack_size]);
      std::fill_n(stack.get(), guard_size, guard);
      return stack;
    }
    Memory stack = std::move(m_free.back());
    m_free.pop_back();
#ifdef KASTOR_TEST_ADDRESSES
    ASAN_UNPOISON_MEMORY_REGION(stack.get(), stack_size);  // the frames that were left there
#endif
    return stack;
  }
  void give_back(Memory stack) {
    if (std::count(stack.get(), stack.get() + guard_size, guard) != guard_size) {
      std::fputs("A fibre of a team needs a larger stack: see team_fibres.cpp\n", stderr);
      std::abort();
    }
    m_free.push_back(std::move(stack));
  }

 private:
  std::vector<Memory> m_free;
};

Stacks& stacks() {
  thread_local Stacks all;
  return all;
}

/// In Boost's terms.
struct StackAllocator {
  static boost::context::stack_context allocate() {
    boost::context::stack_context stack;
    stack.size = stack_size;
    stack.sp = stacks().take().release() + stack_size;
    return stack;
  }
  static void deallocate(boost::context::stack_context& stack) {
    auto* const begin = static_cast<std::byte*>(stack.sp) - stack_size;
    stacks().give_back(Stacks::Memory(begin));
  }
};

void leave_for([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* stack,
               [[maybe_unused]] std::size_t size) {
#ifdef KASTOR_TEST_ADDRESSES
  __sanitizer_start_switch_fiber(fake_stack, stack, size);
#endif
}

void arrive([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** from,
            [[maybe_unused]] std::size_t* from_size) {
#ifdef KASTOR_TEST_ADDRESSES
  __sanitizer_finish_switch_fiber(fake_stack, from, from_size);
#endif
}

}  // namespace

void TeamFibres::begin(std::size_t rank, const std::function<void(int)>& work) {
  Fibre& fibre = m_fibres[rank];
  const boost::context::stack_context stack = StackAllocator::allocate();
  fibre.stack = static_cast<std::byte*>(stack.sp) - stack.size;
  fibre.own = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      StackAllocator{}, [this, rank, &work](boost::context::fiber&& runner) {
        Fibre& self = m_fibres[rank];
        arrive(m_fake_stack, &m_runner_stack, &m_runner_stack_size);
        self.runner = std::move(runner);
        try {
          work(static_cast<int>(rank));
        } catch (const Stop&) {
        } catch (...) {
          if (!m_thrown) m_thrown = std::current_exception();
        }
        leave_for(&m_fake_stack, m_runner_stack, m_runner_stack_size);
        return std::move(self.runner);
      });
}

void TeamFibres::resume(std::size_t rank) {
  Fibre& fibre = m_fibres[rank];
  m_running = rank;
  leave_for(&m_fake_stack, fibre.stack, stack_size);
  fibre.own = std::move(fibre.own).resume();
  arrive(m_fake_stack, nullptr, nullptr);
}

void TeamFibres::wait() {
  Fibre& self = m_fibres[m_running];
  leave_for(&m_fake_stack, m_runner_stack, m_runner_stack_size);
  self.runner = std::move(self.runner).resume();
  arrive(m_fake_stack, &m_runner_stack, &m_runner_stack_size);
  if (m_is_stopping) throw Stop{};
}

std::size_t TeamFibres::let_all_reach_the_barrier() {
  const std::size_t count = m_fibres.size();
  const std::size_t first = m_order() % count;
  const bool backwards = m_order() / 7 % 2 == 1;
  std::size_t waiting = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rank = (first + (backwards ? count - i : i)) % count;
    resume(rank);
    waiting += m_fibres[rank].own ? 1 : 0;
  }
  return waiting;
}

/// While what they work on is still there.
void TeamFibres::stop_all() {
  m_is_stopping = true;
  for (std::size_t rank = 0; rank < m_fibres.size(); ++rank) {
    while (m_fibres[rank].own) resume(rank);
  }
  m_is_stopping = false;
}

void TeamFibres::run(const std::function<void(int)>& work) {
  const std::size_t count = m_fibres.size();
  for (std::size_t rank = 0; rank < count; ++rank) begin(rank, work);
  std::size_t waiting = count;
  while (waiting == count) waiting = let_all_reach_the_barrier();
  stop_all();
  if (m_thrown) std::rethrow_exception(std::exchange(m_thrown, nullptr));
  if (waiting != 0)
    throw std::logic_error(std::to_string(waiting) + " of " + std::to_string(count) +
                           " threads wait at a barrier that the others never reach");
}

}  // namespace testing_support
