// SPDX-License-Identifier: Apache-2.0
#include "cli/run/session.hpp"

#include <cstdio>
#include <kastor/error.hpp>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "device/probe.hpp"

namespace kastor::cli {
namespace {

bool shows_progress(const RunOptions& options) { return !options.quiet && stderr_is_terminal(); }

StepRecorder::Purpose purpose_of(const RunOptions& options) {
  if (options.timings) return StepRecorder::Purpose::timings;
  return shows_progress(options) ? StepRecorder::Purpose::progress : StepRecorder::Purpose::nothing;
}

}  // namespace

Session::Session(const RunOptions& options) : m_options(options), m_steps(purpose_of(options)) {
  m_steps.begin("start");
  m_kokkos.emplace(options.on, options.threads);
  m_steps.end();
  m_steps.attach();
  if (shows_progress(options))
    m_progress.emplace([this] { return readable_step(m_steps.current()); });
}

void Session::make_room() const {
  if (m_progress) std::fputs("\r\033[K", stderr);
}

void Session::show(std::function<std::string()> text) {
  if (!shows_progress(m_options)) return;
  m_progress.reset();
  m_progress.emplace(std::move(text));
}

void Session::with_memory_explained(const std::function<void()>& job) const {
  const device::Memory before = m_kokkos->has_device() ? device::memory() : device::Memory{};
  try {
    job();
  } catch (const std::exception& error) {
    if (before.total_bytes == 0 || !is_failed_allocation(error.what())) throw;
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    throw ResourceError(fmt::format(
        "out of memory: {}; this step began with {:.2f} GiB free of the device's {:.2f} GiB",
        error.what(), static_cast<double>(before.free_bytes) / gib,
        static_cast<double>(before.total_bytes) / gib));
  }
}

void Session::with_memory_explained(const io::FitsImage& image,
                                    const std::function<void()>& job) const {
  try {
    with_memory_explained(job);
  } catch (const ResourceError& error) {
    throw ResourceError(name_of(image) + ": " + error.what());
  }
}

void Session::close(const std::string& note, std::int64_t pixels) {
  end_progress();
  if (!note.empty() && !m_options.quiet) {
    std::fprintf(stderr, "kastor: %s\n", message_line(note).c_str());
  }
  if (m_options.timings) std::fputs(m_steps.table(pixels).c_str(), stderr);
}

}  // namespace kastor::cli
