// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_BACKGROUND_THREAD_HPP
#define KASTOR_CORE_BACKGROUND_THREAD_HPP

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace kastor::core {

/// One thread that does one piece of work after another. It lives on between them, since a backend
/// may keep threads of its own for each thread that calls it.
class BackgroundThread {
 public:
  BackgroundThread() : m_thread([this] { run(); }) {}
  ~BackgroundThread() {
    {
      const std::scoped_lock lock(m_mutex);
      m_ends = true;
    }
    m_changed.notify_all();
    m_thread.join();
  }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

  /// Begins a piece of work; the last one must have been waited for.
  void begin(std::function<void()> work) {
    {
      const std::scoped_lock lock(m_mutex);
      m_work = std::move(work);
    }
    m_changed.notify_all();
  }
  /// Waits until the work is done. \throws what it has thrown
  void wait() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return !m_work; });
    if (m_failure) std::rethrow_exception(std::exchange(m_failure, nullptr));
  }

 private:
  void run() {
    std::unique_lock lock(m_mutex);
    for (;;) {
      m_changed.wait(lock, [this] { return m_work || m_ends; });
      if (!m_work) return;
      lock.unlock();
      std::exception_ptr failure;
      try {
        m_work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      m_work = nullptr;
      m_failure = failure;
      m_changed.notify_all();
    }
  }

  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::function<void()> m_work;  ///< none: waits for some
  std::exception_ptr m_failure;
  bool m_ends = false;
  std::thread m_thread;  // last: it uses the others
};

}  // namespace kastor::core

#endif
