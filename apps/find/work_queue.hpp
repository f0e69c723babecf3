// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_WORK_QUEUE_HPP
#define KASTOR_APPS_FIND_WORK_QUEUE_HPP

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace kastor::cli {

/// Runs jobs on threads, and starts them in the order of their arrival.
class WorkQueue {
 public:
  /// A job must not throw.
  using Job = std::function<void()>;

  /// \param most  the number of jobs that may wait [1..]
  WorkQueue(int threads, std::size_t most);
  /// Waits for the jobs that have started. The rest are not run.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  /// Blocks while too many jobs wait.
  void add(Job job);
  /// Returns when all jobs are done.
  void finish();

 private:
  void work(const std::stop_token& stop);

  std::size_t m_most;
  std::mutex m_mutex;
  std::condition_variable_any m_change;
  std::size_t m_at_work = 0;
  std::deque<Job> m_jobs;
  std::vector<std::jthread> m_threads;
};

}  // namespace kastor::cli

#endif
