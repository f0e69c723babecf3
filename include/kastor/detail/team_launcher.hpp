// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_TEAM_LAUNCHER_HPP
#define KASTOR_DETAIL_TEAM_LAUNCHER_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/enqueue.hpp>

namespace kastor::detail {

/// Of a device; about so many where only its threads are known, as if each processor held 2048.
template <class Exec>
[[nodiscard]] int processors_of(const Exec& space) {
  if constexpr (requires { space.cuda_device_prop(); }) {
    return space.cuda_device_prop().multiProcessorCount;
  } else {
    constexpr int threads = 2048;
    return space.concurrency() > threads ? space.concurrency() / threads : 1;
  }
}

/// Enqueues kernels that say how many `threads` a team has, how many `teams_at_once` a processor of
/// a device shall hold, and how many `scratch_bytes` a team needs.
template <class Exec>
struct TeamLauncher {
  Exec space;

  template <class Kernel>
  void operator()(const char* label, int league, const Kernel& kernel) const {
    using OfKernel = Kokkos::LaunchBounds<Kernel::threads, Kernel::teams_at_once>;
    enqueue_kernel<true>(space, league, kernel, [&](const Exec& instance) {
      launch_kernel(label,
                    Kokkos::TeamPolicy<Exec, OfKernel>(instance, league, Kernel::threads)
                        .set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes)),
                    kernel);
    });
  }
};

}  // namespace kastor::detail

#endif
