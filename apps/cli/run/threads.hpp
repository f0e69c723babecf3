// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_THREADS_HPP
#define KASTOR_APPS_CLI_RUN_THREADS_HPP

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace kastor::cli {

/// A thread that blocks all signals: Ctrl-C is for the main thread.
template <class Job>
[[nodiscard]] std::jthread thread_without_signals(Job&& job) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::jthread thread(std::forward<Job>(job));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace kastor::cli

#endif
