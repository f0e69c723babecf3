// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_NEW_INSTANCE_HPP
#define KASTOR_TESTS_NEW_INSTANCE_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace testing_support {

/// An instance of an execution space of its own, for one of several threads; on a CPU it has one
/// thread.
template <class Exec>
[[nodiscard]] Exec new_instance() {
#ifdef KOKKOS_ENABLE_SERIAL
  if constexpr (std::is_same_v<Exec, Kokkos::Serial>) return Kokkos::Serial(Kokkos::NewInstance{});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return Kokkos::OpenMP(1);
#endif
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>)
    return Kokkos::Experimental::partition_space(Exec{}, 1)[0];
#endif
}

}  // namespace testing_support

#endif
