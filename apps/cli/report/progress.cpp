// SPDX-License-Identifier: Apache-2.0
#include "cli/report/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "cli/report/format.hpp"
#include "cli/run/threads.hpp"

namespace kastor::cli {
namespace {

using namespace std::chrono_literals;

using Text = std::function<std::string()>;

void draw(const Text& text, std::chrono::steady_clock::time_point start) {
  const std::string shown = text();
  if (shown.empty()) return;
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
  std::fprintf(stderr, "\r\033[Kkastor: %s ... %lld s", shown.c_str(),
               static_cast<long long>(seconds.count()));
}

void run(const std::stop_token& stop, const Text& text) {
  const auto start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable_any wake;
  bool drawn = false;
  std::unique_lock lock(mutex);
  for (auto wait = 1000ms;
       !wake.wait_for(lock, stop, wait, [&stop] { return stop.stop_requested(); }); wait = 200ms) {
    draw(text, start);
    drawn = true;
  }
  if (drawn) std::fputs("\r\033[K", stderr);
}

}  // namespace

ProgressLine::ProgressLine(std::function<std::string()> text)
    : m_thread(thread_without_signals(
          [text = std::move(text)](const std::stop_token& stop) { run(stop, text); })) {}

std::string readable_step(std::string name) {
  constexpr const char* prefix = "kastor::";
  if (name.starts_with(prefix)) name.erase(0, std::char_traits<char>::length(prefix));
  for (std::size_t at = name.find("::"); at != std::string::npos; at = name.find("::", at)) {
    name.replace(at, 2, ": ");
  }
  for (char& c : name) {
    if (c == '_') c = ' ';
  }
  return name.substr(0, 50);  // fits on one line
}

std::string progress_bar(std::size_t done, std::size_t all, double seconds) {
  constexpr std::size_t width = 20;
  const std::size_t filled = all > 0 ? std::min(width, done * width / all) : width;
  std::string text = "[" + std::string(filled, '#') + std::string(width - filled, '.') + "] ";
  text += fmt::format("{} of {} images", done, all);
  if (done > 0 && seconds > 0)
    text += fmt::format(", {:.3g} a second", static_cast<double>(done) / seconds);
  return text;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace kastor::cli
