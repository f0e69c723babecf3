// SPDX-License-Identifier: Apache-2.0
#include "cli/run/backends.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "cli/options/environment.hpp"
#include "cli/run/devices.hpp"
#include "device/probe.hpp"

namespace kastor::cli {
namespace {

template <class Exec>
Backend describe(const char* name) {
  constexpr bool device = !is_host_space_v<Exec>;
  constexpr bool parallel_host = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
  return {name, device, device ? 2 : (parallel_host ? 1 : 0)};
}

std::vector<Backend> list_backends() {
  std::vector<Backend> list;
#define KASTOR_CLI_DESCRIBE(NAME, EXEC) list.push_back(describe<EXEC>(NAME));
  KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_CLI_DESCRIBE)
#undef KASTOR_CLI_DESCRIBE
  return list;
}

/// The number of threads if it must be limited; none if Kokkos may choose it. Kokkos takes
/// OMP_NUM_THREADS, else all hardware threads, and checks neither.
std::optional<int> limited_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const long count = wanted != nullptr ? std::strtol(wanted, nullptr, 10)
                                       : static_cast<long>(std::thread::hardware_concurrency());
  if (count > most_threads) return most_threads;
  return std::nullopt;
}

}  // namespace

const std::vector<Backend>& compiled_backends() {
  static const std::vector<Backend> list = list_backends();
  return list;
}

KokkosSession::KokkosSession(const std::optional<std::string>& wanted, std::optional<int> threads) {
  const auto& list = compiled_backends();
  const Backend* chosen = nullptr;
  bool needs_device = false;
  for (const auto& backend : list) {
    if (wanted && backend.name == *wanted) chosen = &backend;
    if (!wanted || backend.name == *wanted) needs_device = needs_device || backend.device;
  }
  // A device takes a third of a second to start, so a CPU backend does without.
  m_is_guest = Kokkos::is_initialized();
  m_device_usable = needs_device && device::probe().trouble.empty();
  if (!m_device_usable && !m_is_guest) leave_devices_out();

  const Backend* standard = nullptr;
  for (const auto& backend : list) {
    if (usable(backend) && (standard == nullptr || backend.rank > standard->rank)) {
      standard = &backend;
    }
  }
  if (!wanted) chosen = standard;
  if (standard == nullptr || chosen == nullptr) {
    throw Error("found no usable backend; expected at least one");
  }
  if (!usable(*chosen)) {
    throw Error("--on " + chosen->name + ": found no usable device (" + device::probe().trouble +
                "); expected a device and its driver");
  }
  m_standard = standard->name;
  m_backend = chosen->name;

  if (m_is_guest) return;
  check_kokkos_environment(m_device_usable ? device::probe().names.size() : 0);
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
  settings.set_print_configuration(false);
  // A serial backend should not start the threads of another one.
  if (chosen->rank == 0) threads = 1;
  if (!threads) threads = limited_threads();
  if (threads) settings.set_num_threads(*threads);
  Kokkos::initialize(settings);
}

KokkosSession::~KokkosSession() {
  if (!m_is_guest) Kokkos::finalize();
}

bool KokkosSession::usable(const Backend& backend) const {
  return !backend.device || m_device_usable;
}

}  // namespace kastor::cli
