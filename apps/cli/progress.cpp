// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <string>

namespace kastor::cli {
namespace {

using namespace std::chrono_literals;

/// "kastor::sigma_clip::bracket" as "sigma clip: bracket".
std::string readable(std::string name) {
  constexpr const char* prefix = "kastor::";
  if (name.rfind(prefix, 0) == 0) name.erase(0, std::char_traits<char>::length(prefix));
  for (std::size_t at = name.find("::"); at != std::string::npos; at = name.find("::", at)) {
    name.replace(at, 2, ": ");
  }
  for (char& c : name) {
    if (c == '_') c = ' ';
  }
  return name.substr(0, 50);  // never a second line
}

void draw(const StepRecorder& steps, std::chrono::steady_clock::time_point start) {
  const std::string step = steps.current();
  if (step.empty()) return;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  std::fprintf(stderr, "\r\033[Kkastor: %s ... %lld s", readable(step).c_str(),
               static_cast<long long>(seconds.count()));
}

void run(const std::stop_token& stop, const StepRecorder& steps) {
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable_any wake;
  bool drawn = false;
  std::unique_lock lock(mutex);
  for (auto wait = 1000ms;
       !wake.wait_for(lock, stop, wait, [&stop] { return stop.stop_requested(); }); wait = 200ms) {
    draw(steps, start);
    drawn = true;
  }
  if (drawn) std::fputs("\r\033[K", stderr);
}

}  // namespace

ProgressLine::ProgressLine(const StepRecorder& steps) {
  // Ctrl-C belongs to the thread that works.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  m_thread = std::jthread([&steps](const std::stop_token& stop) { run(stop, steps); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace kastor::cli
