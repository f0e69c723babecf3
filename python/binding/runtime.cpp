// SPDX-License-Identifier: Apache-2.0
#include "binding/runtime.hpp"

#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace kastor::python {

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

Runtime& Runtime::get() {
  static auto* const runtime = new Runtime;  // never destroyed: Python may call at its very end
  return *runtime;
}

void Runtime::start(std::optional<int> threads) {
  const std::lock_guard lock(m_lock);
  if (!m_session) {
    if (m_is_fork) {
      throw DeviceError(
          "Kokkos was not started before the fork; expected kastor.initialize() before it, or "
          "another way to start processes (spawn, forkserver)");
    }
    m_session.emplace(std::nullopt, threads);
    m_threads = threads;
    return;
  }
  if (threads && threads != m_threads) {
    throw Error(
        fmt::format("threads: found {}, but Kokkos runs since the first call with {}; expected "
                    "kastor.initialize(threads={}) before any other call",
                    *threads, m_threads ? std::to_string(*m_threads) : "its own choice", *threads));
  }
}

std::vector<std::string> Runtime::backends() {
  start({});
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
  throw DeviceError(fmt::format("on: found '{}'{}; expected one that can be used here: {}", *wanted,
                                m_is_fork ? " in a forked process" : "", list));
}

void Runtime::finish() {
  const std::lock_guard lock(m_lock);
  if (m_is_fork || !m_session) return;
#define KASTOR_PYTHON_EMPTY(NAME, EXEC) pool<EXEC>().idle.clear();
  KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_PYTHON_EMPTY)
#undef KASTOR_PYTHON_EMPTY
  m_session.reset();
}

}  // namespace kastor::python
