// SPDX-License-Identifier: Apache-2.0
#include "cli/run/devices.hpp"

#include <Kokkos_Core.hpp>
#include <kastor/detail/instantiations.hpp>
#include <kastor/image.hpp>
#include <memory>
#include <string>

// This is not a public header of Kokkos (4.5 to 4.7 have it), but the public headers offer only
// "every backend" or "none".
#define KOKKOS_IMPL_PUBLIC_INCLUDE  // NOLINT(readability-identifier-naming)
#include <impl/Kokkos_ExecSpaceManager.hpp>
#undef KOKKOS_IMPL_PUBLIC_INCLUDE

namespace kastor::cli {
namespace {

struct NothingToStart final : Kokkos::Impl::ExecSpaceBase {
  void initialize(const Kokkos::InitializationSettings&) override {}
  void finalize() override {}
  void static_fence(const std::string&) override {}
  void print_configuration(std::ostream&, bool) override {}
};

/// Kokkos keeps its backends in a map, whose keys are a number, for the order in which they start,
/// and a name. A second entry with a key replaces the first. An entry with an unused key has no
/// effect.
template <class Exec>
void leave_out() {
  if constexpr (!is_host_space_v<Exec>) {
    auto& manager = Kokkos::Impl::ExecSpaceManager::get_instance();
    for (const char* order : {"150_", "170_"}) {
      manager.register_space_factory(order + std::string(Exec::name()),
                                     std::make_unique<NothingToStart>());
    }
  }
}

}  // namespace

void leave_devices_out() {
#define KASTOR_CLI_LEAVE_OUT(NAME, EXEC) leave_out<EXEC>();
  KASTOR_FOR_EACH_NAMED_EXEC(KASTOR_CLI_LEAVE_OUT)
#undef KASTOR_CLI_LEAVE_OUT
}

}  // namespace kastor::cli
