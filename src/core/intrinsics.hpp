// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_INTRINSICS_HPP
#define KASTOR_CORE_INTRINSICS_HPP

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/portable.hpp"

/// The only file with CUDA intrinsics. Each function has a portable form, which KASTOR_PORTABLE
/// selects on every backend. Tested with nvcc 13.0, g++ 12.2 and clang 19.
#if defined(__CUDA_ARCH__) && !defined(KASTOR_PORTABLE)
#define KASTOR_CORE_CUDA_FORMS 1
#else
#define KASTOR_CORE_CUDA_FORMS 0
#endif

/// Placed before a loop. The device compiler unrolls the loop fully, eight times or not at all. The
/// CPU compiler decides on its own, since it vectorises only loops that it has not unrolled.
#if defined(__CUDACC__)
#define KASTOR_UNROLL _Pragma("unroll")
#define KASTOR_UNROLL_BY_8 _Pragma("unroll 8")
#define KASTOR_KEEP_LOOP _Pragma("unroll 1")
/// Placed before a function for host and device whose template arguments may have functions for the
/// host alone: it is then called on the host alone.
#define KASTOR_MAY_CALL_HOST _Pragma("nv_exec_check_disable")
#else
#define KASTOR_MAY_CALL_HOST
#define KASTOR_UNROLL
#define KASTOR_UNROLL_BY_8
#define KASTOR_KEEP_LOOP
#endif

namespace kastor::core {

// ------------------------------------------------------------------------------ relaxed memory

/// Reads memory that other threads may write at the same time; implies no ordering.
template <class V>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V relaxed_load(const V* at) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile V*>(at);
#else
  return std::atomic_ref<V>(*const_cast<V*>(at)).load(std::memory_order_relaxed);
#endif
}

/// Writes memory that other threads may read or write at the same time; implies no ordering.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void relaxed_store(V* at, V value) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile V*>(at) = value;
#else
  std::atomic_ref<V>(*at).store(value, std::memory_order_relaxed);
#endif
}

// ------------------------------------------------------------------------------- 16-byte loads

/// Copies `count` values from memory aligned to 16 bytes, 16 bytes at a time.
template <int count, class T>
KOKKOS_FORCEINLINE_FUNCTION void load_aligned(const T* from, T* to) {
  static_assert(count * sizeof(T) % 16 == 0);
#if KASTOR_CORE_CUDA_FORMS
  constexpr int per_load = 16 / sizeof(T);
  KASTOR_UNROLL
  for (int k = 0; k < count; k += per_load) {
    const uint4 loaded = *reinterpret_cast<const uint4*>(from + k);
    std::memcpy(to + k, &loaded, 16);
  }
#else
  KASTOR_UNROLL
  for (int k = 0; k < count; ++k) to[k] = from[k];
#endif
}

/// The same, applying `map` to each value. (On a CPU, a plain copy of many values would become a
/// call of memcpy.)
template <int count, class T, class Map>
KOKKOS_FORCEINLINE_FUNCTION void load_aligned(const T* from, T* to, const Map& map) {
#if KASTOR_CORE_CUDA_FORMS
  load_aligned<count>(from, to);
  KASTOR_UNROLL
  for (int k = 0; k < count; ++k) to[k] = map(to[k]);
#else
  for (int k = 0; k < count; ++k) to[k] = map(from[k]);
#endif
}

/// Copies `count` values to memory aligned to 16 bytes, 16 bytes at a time.
template <int count, class T>
KOKKOS_FORCEINLINE_FUNCTION void store_aligned(const T* from, T* to) {
  static_assert(count * sizeof(T) % 16 == 0);
#if KASTOR_CORE_CUDA_FORMS
  constexpr int per_store = 16 / sizeof(T);
  KASTOR_UNROLL
  for (int k = 0; k < count; k += per_store) {
    uint4 stored;
    std::memcpy(&stored, from + k, 16);
    *reinterpret_cast<uint4*>(to + k) = stored;
  }
#else
  KASTOR_UNROLL
  for (int k = 0; k < count; ++k) to[k] = from[k];
#endif
}

/// Whether `load_aligned` and `store_aligned` may access this address.
template <class T>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION bool is_aligned(const T* at) {
#if KASTOR_CORE_CUDA_FORMS
  return reinterpret_cast<std::uintptr_t>(at) % 16 == 0;
#else
  (void)at;
  return true;
#endif
}

// ----------------------------------------------------------------------------- scratch memory

/// Adds to a counter in the scratch memory of a group and returns its previous value.
template <class V>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION V fetch_add_in_scratch(V* counter, V value) {
#if KASTOR_CORE_CUDA_FORMS
  static_assert(sizeof(V) == 4);
  return atomicAdd(counter, value);  // Kokkos' version is not a single shared-memory instruction
#else
  return Kokkos::atomic_fetch_add(counter, value);
#endif
}

// ------------------------------------------------------------------------------- sums of a team

/// Sums N numbers over the threads of each part of a team, which has `parts` equal parts; all
/// threads get all sums. On a device, the number of threads in a part is a multiple of 32. The CUDA
/// form handles all N numbers at once: it adds up a warp by shuffles, then the warps through shared
/// memory. The portable form does one reduction after the other.
template <int parts, int N, class Member>
KOKKOS_FUNCTION void sum_over_parts(const Member& team, std::int64_t (&word)[N],
                                    std::int64_t (&sums)[parts][N]) {
#if KASTOR_CORE_CUDA_FORMS
  constexpr int lanes = 32;
  __shared__ std::int64_t of_warp[lanes][N];
  // A loop that is not unrolled is less code to fetch.
  KASTOR_KEEP_LOOP
  for (int step = lanes / 2; step > 0; step /= 2) {
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k)
      word[k] += __shfl_xor_sync(~0U, static_cast<long long>(word[k]), step);
  }
  const int thread = team.team_rank();
  const int warps = team.team_size() / (lanes * parts);  // warps of a part
  // Not before the sums of the previous call have been read.
  __syncthreads();
  if (thread % lanes == 0) {
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) of_warp[thread / lanes][k] = word[k];
  }
  __syncthreads();
  KASTOR_UNROLL
  for (int p = 0; p < parts; ++p) {
    KASTOR_UNROLL
    for (int k = 0; k < N; ++k) sums[p][k] = of_warp[p * warps][k];
    KASTOR_KEEP_LOOP
    for (int w = 1; w < warps; ++w) {
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) sums[p][k] += of_warp[p * warps + w][k];
    }
  }
#else
  const int mine = team.team_rank() / (team.team_size() / parts);
  for (int p = 0; p < parts; ++p) {
    for (int k = 0; k < N; ++k) {
      sums[p][k] = p == mine ? word[k] : 0;
      team.team_reduce(Kokkos::Sum<std::int64_t>(sums[p][k]));
    }
  }
#endif
}

}  // namespace kastor::core

#endif
