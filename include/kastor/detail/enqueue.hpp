// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_ENQUEUE_HPP
#define KASTOR_DETAIL_ENQUEUE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/cuda_graph.hpp>
#include <kastor/detail/kernel_sequence.hpp>
#include <kastor/detail/work_shares.hpp>
#include <kastor/image.hpp>
#include <utility>

/// How plans enqueue the kernels of every call, so that a KernelSequence can have them.
namespace kastor::detail {

/// `launch(instance)` enqueues one kernel, with these arguments. Where a KernelSequence is at work
/// on this thread, it decides when, and on which instance. `starts_early`: it is launched by
/// `launch_kernel`.
template <bool starts_early = false, class Exec, class Kernel, class Launch>
void enqueue_kernel(const Exec& space, [[maybe_unused]] std::int64_t size,
                    [[maybe_unused]] const Kernel& kernel, const Launch& launch) {
  if constexpr (requires { KernelSequence<Exec>::current(); }) {
    if (auto* const sequence = KernelSequence<Exec>::current())
      return sequence->take(size, kernel, launch, starts_early);
  }
  launch(space);
}

/// A kernel that may be started before the one before it has ended: each of its threads waits for
/// that end, and for all that was written, by itself. So a graph need not wait until a GPU is idle
/// before it starts the next kernel. (CUDA's programmatic dependent launch; elsewhere this does
/// nothing.)
template <class Kernel>
struct StartedEarly {
  Kernel kernel;

  template <class Place>
  KOKKOS_FUNCTION void operator()(const Place& place) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    kernel(place);
  }
};

/// `Kokkos::parallel_for` on a device. Kernels of over 512 bytes would wait on a GPU, and the host
/// with them, until their arguments can be copied over those of the last one of that kind.
template <class Policy, class Kernel>
void launch_kernel(const char* label, const Policy& policy, const Kernel& kernel) {
  using namespace Kokkos::Experimental;
  Kokkos::parallel_for(label, require(policy, WorkItemProperty::HintLightWeight),
                       StartedEarly<Kernel>{kernel});
}

/// The same over [0, n); `Policy` is for devices, the threads of a host share the indices.
template <class Policy, class Exec, class Kernel>
void enqueue_range(const Exec& space, const char* label, std::int64_t n, const Kernel& kernel) {
  if constexpr (is_host_space_v<Exec>) {
    for_each_index(label, space, n, kernel);
  } else {
    enqueue_kernel<true>(space, n, kernel, [&](const Exec& instance) {
      launch_kernel(label, Policy(instance, 0, n), kernel);
    });
  }
}

/// `Kokkos::deep_copy` of one value.
template <class View, class Exec>
void enqueue_fill(const Exec& space, const View& view,
                  const typename View::non_const_value_type& value) {
  static_assert(View::rank() == 1);  // one number would be copied from the host
  const std::pair<const void*, typename View::non_const_value_type> what{view.data(), value};
  enqueue_kernel(space, static_cast<std::int64_t>(view.size()), what,
                 [&](const Exec& instance) { Kokkos::deep_copy(instance, view, value); });
}

}  // namespace kastor::detail

#endif
