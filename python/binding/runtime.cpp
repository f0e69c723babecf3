// SPDX-License-Identifier: Apache-2.0
#include "binding/runtime.hpp"

#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <chrono>
#include <thread>

#include "device/probe.hpp"

namespace kastor::python {
namespace {

// No condition variable: one that others wait for cannot be used in the child of a fork.
constexpr std::chrono::milliseconds poll(1);

thread_local int jobs_of_this_thread = 0;

}  // namespace

#ifdef KOKKOS_ENABLE_OPENMP
RegionsOfOneThread::RegionsOfOneThread(bool is_fork) {
  if (!is_fork) return;
  m_levels_before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
}
RegionsOfOneThread::~RegionsOfOneThread() {
  if (m_levels_before >= 0) omp_set_max_active_levels(m_levels_before);
}
#else
RegionsOfOneThread::RegionsOfOneThread(bool) {}
RegionsOfOneThread::~RegionsOfOneThread() = default;
#endif

std::string fastest_of_host() {
  const auto& list = cli::compiled_backends();
  const cli::Backend* fastest = nullptr;
  for (const auto& backend : list) {
    if (!backend.device && (fastest == nullptr || backend.rank > fastest->rank)) fastest = &backend;
  }
  return fastest->name;
}

void refuse_device_array() {
  throw DeviceError(
      "image: found an array on a GPU; expected on='cuda' in a process that was not forked, or an "
      "array of the host");
}

Runtime& Runtime::get() {
  static auto* const runtime = new Runtime;  // never destroyed: Python may call at its very end
  return *runtime;
}

void Runtime::start(std::optional<int> threads, bool device) {
  const std::lock_guard lock(m_lock);
  if (!m_session) {
    if (m_is_fork) {
      throw DeviceError(
          "Kokkos was not started before the fork; expected kastor.initialize() before it, or "
          "another way to start processes (spawn, forkserver)");
    }
    m_session.emplace(device ? std::nullopt : std::optional(fastest_of_host()), threads);
    m_threads = threads;
    return;
  }
  if (!device && m_session->has_device())
    throw Error(
        "device: found False, but the GPU runs since the first call; expected "
        "kastor.initialize(device=False) before any other call");
  if (threads && threads != m_threads) {
    throw Error(
        fmt::format("threads: found {}, but Kokkos runs since the first call with {}; expected "
                    "kastor.initialize(threads={}) before any other call",
                    *threads, m_threads ? std::to_string(*m_threads) : "its own choice", *threads));
  }
}

std::vector<std::string> Runtime::backends() {
  start({});
  if (m_is_fork && m_session->has_device()) {
    throw DeviceError(
        "this process was forked when the GPU was in use, which CUDA does not allow; expected "
        "another way to start processes (spawn, forkserver), or kastor.initialize(device=False) "
        "before the fork");
  }
  std::vector<std::string> names;
  for (const auto& backend : cli::compiled_backends()) {
    if (m_is_fork ? backend.rank == 0 : m_session->usable(backend)) names.push_back(backend.name);
  }
  return names;
}

std::string Runtime::backend(const std::optional<std::string>& wanted) {
  const auto usable = backends();
  if (!wanted) return m_is_fork ? usable.front() : m_session->standard_backend();
  std::string list;
  for (const auto& name : usable) {
    if (name == *wanted) return name;
    list += (list.empty() ? "" : ", ") + name;
  }
  std::string why = m_is_fork ? " in a forked process" : "";
  for (const auto& backend : cli::compiled_backends()) {
    if (backend.name == *wanted && backend.device && !m_is_fork)
      why = " without a device (" + device::probe().trouble + ")";
  }
  throw DeviceError(
      fmt::format("on: found '{}'{}; expected one that can be used here: {}", *wanted, why, list));
}

void Runtime::release() {
  const std::lock_guard lock(m_lock);
#define KASTOR_PYTHON_EMPTY(NAME, EXEC) pool<EXEC>().idle.clear();
  if (m_session && !m_is_fork) {
    KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_PYTHON_EMPTY)
  }
#undef KASTOR_PYTHON_EMPTY
}

void Runtime::finish(bool is_alone) {
  m_ender = std::this_thread::get_id();
  m_is_ended = true;
  if (!is_alone) return;
  release();
  const std::lock_guard lock(m_lock);
  if (!m_is_fork && m_running == 0) m_session.reset();
}

Runtime::RunningJob::RunningJob(Runtime& runtime) : m_runtime(runtime) {
  if (jobs_of_this_thread++ > 0) return;
  std::unique_lock lock(m_runtime.m_lock);
  while (m_runtime.m_forking > 0 || m_runtime.is_left_behind()) {
    lock.unlock();
    std::this_thread::sleep_for(poll);
    lock.lock();
  }
  ++m_runtime.m_running;
}

Runtime::RunningJob::~RunningJob() {
  if (--jobs_of_this_thread > 0) return;
  {
    const std::lock_guard lock(m_runtime.m_lock);
    --m_runtime.m_running;
  }
  while (m_runtime.is_left_behind()) std::this_thread::sleep_for(poll);
}

void Runtime::before_fork() {
  m_lock.lock();
  ++m_forking;
  while (m_running > 0) {
    m_lock.unlock();
    std::this_thread::sleep_for(poll);
    m_lock.lock();
  }
}

void Runtime::after_fork(bool is_child) {
  m_is_fork = m_is_fork || is_child;
  m_forking = is_child ? 0 : m_forking - 1;
  m_lock.unlock();
}

}  // namespace kastor::python
