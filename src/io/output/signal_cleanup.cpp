// SPDX-License-Identifier: Apache-2.0
#include "io/output/signal_cleanup.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <kastor/io/output_set.hpp>

namespace kastor::io {
namespace {

// What the handler may access: fixed memory, and a flag per slot that is set only while its path is
// complete.
constexpr int k_slots = 64;
std::array<std::array<char, PATH_MAX>, k_slots> g_paths;
std::array<std::atomic<bool>, k_slots> g_taken;
std::array<std::atomic<bool>, k_slots> g_armed;
// Number of threads in a section, and whether a signal has arrived. The handler waits for the
// threads that were counted before it.
std::atomic<int> g_inside{0};
std::atomic<bool> g_stopping{false};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "the signal handler needs lock-free flags");

// Those that end the process by default, other than by a fault of its own.
constexpr std::array k_signals{SIGINT, SIGTERM, SIGHUP,    SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE,
                               SIGIO,  SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ};

void wait_a_millisecond() { (void)::poll(nullptr, 0, 1); }

extern "C" void remove_temporaries_and_die(int signal_number) {
  // A thread in a section blocks these signals, so only other threads can be in one.
  g_stopping.store(true);
  // A file system that does not answer must not keep the process for ever.
  constexpr int patience = 10000;
  for (int i = 0; i < patience && g_inside.load() > 0; ++i) wait_a_millisecond();
  for (std::size_t slot = 0; slot < k_slots; ++slot) {
    if (g_armed[slot].load()) ::unlink(g_paths[slot].data());
  }
  // By the default action, so that the parent process sees which signal it was. It is restored only
  // now: a second signal, such as SIGXCPU, which comes every second, must not end the process
  // before the files are gone.
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

}  // namespace

namespace detail {

UninterruptedSection::UninterruptedSection() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : k_signals) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, &m_before);
  g_inside.fetch_add(1);
  if (!g_stopping.load()) return;
  // The process ends before this loop does.
  g_inside.fetch_sub(1);
  for (;;) wait_a_millisecond();
}

UninterruptedSection::~UninterruptedSection() {
  g_inside.fetch_sub(1);
  pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
}

int remember_temporary(const std::string& path) {
  for (std::size_t slot = 0; slot < k_slots; ++slot) {
    if (path.size() >= g_paths[slot].size() || g_taken[slot].exchange(true)) continue;
    std::memcpy(g_paths[slot].data(), path.c_str(), path.size() + 1);
    g_armed[slot].store(true);
    return static_cast<int>(slot);
  }
  return -1;
}

void forget_temporary(int slot) {
  if (slot < 0) return;
  g_armed[static_cast<std::size_t>(slot)].store(false);
  g_taken[static_cast<std::size_t>(slot)].store(false);
}

}  // namespace detail

void install_signal_cleanup() {
  for (const int number : k_signals) {
    struct sigaction now {};
    const bool is_default = ::sigaction(number, nullptr, &now) == 0 &&
                            (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL;
    if (!is_default) continue;
    struct sigaction action {};
    action.sa_handler = &remove_temporaries_and_die;
    sigfillset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace kastor::io
