// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <kastor/version.hpp>
#include <thread>

#include "cli/report/format.hpp"
#include "device/probe.hpp"

namespace kastor::bench {
namespace {

/// The name of the CPU in Linux, which not every architecture has, else the architecture.
std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  utsname system{};
  return uname(&system) == 0 ? system.machine : "";
}

std::string kokkos_version() {
  return fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100);
}

}  // namespace

Machine this_machine(const cli::KokkosSession& kokkos, const std::vector<std::string>& measured) {
  Machine machine;
  machine.kastor = version();
  machine.kokkos = kokkos_version();
  machine.cpu = cpu_model();
  machine.hardware_threads = std::thread::hardware_concurrency();
  machine.devices = device::probe().names;
  for (const auto& backend : cli::compiled_backends()) {
    Machine::BackendInfo info;
    info.name = backend.name;
    info.usable = kokkos.usable(backend);
    info.device = backend.device;
    info.measured = std::find(measured.begin(), measured.end(), backend.name) != measured.end();
    if (info.usable) {
      cli::on_backend(backend.name, [&](const auto& space) { info.threads = space.concurrency(); });
    } else {
      info.trouble = device::probe().trouble;
    }
    machine.backends.push_back(std::move(info));
  }
  return machine;
}

}  // namespace kastor::bench
