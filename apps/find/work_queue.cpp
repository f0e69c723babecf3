// SPDX-License-Identifier: Apache-2.0
#include "find/work_queue.hpp"

#include <utility>

#include "cli/run/threads.hpp"

namespace kastor::cli {

WorkQueue::WorkQueue(int threads, std::size_t most) : m_most(most) {
  for (int i = 0; i < threads; ++i)
    m_threads.push_back(
        thread_without_signals([this](const std::stop_token& stop) { work(stop); }));
}

WorkQueue::~WorkQueue() {
  for (auto& thread : m_threads) thread.request_stop();
}

void WorkQueue::add(Job job) {
  {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [this] { return m_jobs.size() < m_most; });
    m_jobs.push_back(std::move(job));
  }
  m_change.notify_all();
}

void WorkQueue::finish() {
  std::unique_lock lock(m_mutex);
  m_change.wait(lock, [this] { return m_jobs.empty() && m_at_work == 0; });
}

void WorkQueue::work(const std::stop_token& stop) {
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_change.wait(lock, stop, [this] { return !m_jobs.empty(); });
    if (stop.stop_requested()) return;
    const Job job = std::move(m_jobs.front());
    m_jobs.pop_front();
    ++m_at_work;
    lock.unlock();
    job();
    lock.lock();
    --m_at_work;
    m_change.notify_all();
  }
}

}  // namespace kastor::cli
