// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_LAUNCH_HPP
#define KASTOR_CORE_LAUNCH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>

#include "core/portable.hpp"

/// Kokkos' patterns with what all kernels of the library share: 64-bit indices, and arguments
/// without delay. (On CUDA, Kokkos copies a functor of more than 512 bytes to constant memory and
/// first waits for the last kernel that used it, unless the functor is declared light-weight.)
namespace kastor::core {

namespace impl {

template <class Exec, class Policy>
[[nodiscard]] auto light(const Policy& policy) {
  if constexpr (runs_on_host_v<Exec>) {
    // Kokkos 4.7 forgets the instance of Serial when it changes the properties of a TeamPolicy.
    return policy;
  } else {
    return Kokkos::Experimental::require(policy,
                                         Kokkos::Experimental::WorkItemProperty::HintLightWeight);
  }
}

template <class Exec>
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

}  // namespace impl

/// `kernel(i)` for 0 <= i < n. Enqueues only.
template <class Exec, class Kernel>
void for_each(const std::string& label, const Exec& space, std::int64_t n, const Kernel& kernel) {
  Kokkos::parallel_for(label, impl::light<Exec>(impl::Range<Exec>(space, 0, n)), kernel);
}

/// An exclusive scan: `kernel(i, sum, is_final)` for 0 <= i < n adds its own part to `sum`. If
/// `is_final`, `sum` holds the parts of all smaller i before that. Called once or twice for each i.
/// Enqueues only. `Kernel::value_type` must add up in any order. The launch bounds keep the
/// register count low, so that enough threads are resident to hide the latency of memory.
template <class Exec, class Kernel>
void scan(const std::string& label, const Exec& space, std::int64_t n, const Kernel& kernel) {
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, Kokkos::LaunchBounds<128, 8>>;
  Kokkos::parallel_scan(label, impl::light<Exec>(Policy(space, 0, n)), kernel);
}

/// Reduces `kernel(i, value)` over 0 <= i < n and waits for the result. `Kernel::value_type` has
/// `operator+=`, whose order must not matter.
template <class Exec, class Kernel>
[[nodiscard]] typename Kernel::value_type reduce(const std::string& label, const Exec& space,
                                                 std::int64_t n, const Kernel& kernel) {
  typename Kernel::value_type value{};
  if (n > 0)
    Kokkos::parallel_reduce(label, impl::light<Exec>(impl::Range<Exec>(space, 0, n)), kernel,
                            value);
  return value;
}

/// Number of workers that share a long loop: the threads that the backend runs at once, on a CPU
/// four times as many, so that a slow core delays the kernel only briefly.
template <class Exec>
[[nodiscard]] std::int64_t workers_of(const Exec& space, std::int64_t n) {
  const std::int64_t threads = space.concurrency();
  const std::int64_t most = runs_on_host_v<Exec> && threads > 1 ? 4 * threads : threads;
  return n < 1 ? 1 : (n < most ? n : most);
}

/// The indices of one of several workers: a block of neighbours on a CPU; on a device a stride
/// apart, so that neighbouring threads read neighbouring memory.
template <class Exec>
struct Share {
  std::int64_t first, past, step;

  KOKKOS_FUNCTION Share(std::int64_t worker, std::int64_t workers, std::int64_t begin,
                        std::int64_t end)
      : first(begin + worker), past(end), step(workers) {
    if constexpr (runs_on_host_v<Exec>) {
      const std::int64_t each = (end - begin + workers - 1) / workers;
      first = begin + worker * each;
      past = first + each < end ? first + each : end;
      step = 1;
    }
  }
};

}  // namespace kastor::core

#endif
