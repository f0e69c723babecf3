// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PIXEL_PACK_HPP
#define KASTOR_DETAIL_PIXEL_PACK_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>

#if defined(__CUDACC__) || defined(__clang__)
#define KASTOR_UNROLL _Pragma("unroll")
#define KASTOR_UNROLL_BY_4 _Pragma("unroll 4")
#define KASTOR_KEEP_LOOP _Pragma("unroll 1")
#else
#define KASTOR_UNROLL _Pragma("GCC unroll 64")
#define KASTOR_UNROLL_BY_4 _Pragma("GCC unroll 4")
#define KASTOR_KEEP_LOOP _Pragma("GCC unroll 1")
#endif

/// Before a function of a template for hosts and devices, of which some instances call what only
/// hosts have, and run there.
#if defined(__CUDACC__) && !defined(__clang__)
#define KASTOR_NO_CHECK_OF_CALLS _Pragma("nv_exec_check_disable")
#else
#define KASTOR_NO_CHECK_OF_CALLS
#endif

namespace kastor::detail {

/// 16 bytes of pixels, which a device loads at once.
template <class T>
struct alignas(16) PixelPack {
  static constexpr int size = 16 / sizeof(T);
  T pixel[size];
};

/// Adds a step if the condition holds. On CUDA one predicated instruction, of which its compiler
/// makes two to four.
KOKKOS_FORCEINLINE_FUNCTION void add_if(bool condition, int step, int& to) {
#ifdef __CUDA_ARCH__
  asm("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n @p add.s32 %0, %0, %2;\n}"
      : "+r"(to)
      : "r"(static_cast<int>(condition)), "r"(step));
#else
  to += condition ? step : 0;
#endif
}

/// Counts if a < b. On CUDA, of floats, by two instructions.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count_if_less(T a, T b, int& n) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    asm("{\n .reg .pred p;\n setp.lt.f32 p, %1, %2;\n @p add.s32 %0, %0, 1;\n}"
        : "+r"(n)
        : "f"(a), "f"(b));
    return;
  }
#endif
  n += a < b ? 1 : 0;
}
/// The same if a <= b.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void count_if_not_greater(T a, T b, int& n) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4) {
    asm("{\n .reg .pred p;\n setp.le.f32 p, %1, %2;\n @p add.s32 %0, %0, 1;\n}"
        : "+r"(n)
        : "f"(a), "f"(b));
    return;
  }
#endif
  n += a <= b ? 1 : 0;
}

/// a / b for 0 <= a < 2^16 and 0 < b < 2^24, in fewer instructions.
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int quotient_of_few(int a, int b) {
#ifdef __CUDA_ARCH__
  // Half away from where it would be wrong.
  return static_cast<int>(__fdividef(static_cast<float>(a) + 0.5F, static_cast<float>(b)));
#else
  return a / b;
#endif
}

/// The lesser of two numbers; NaN if one of them is.
template <class T>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T lesser_or_nan(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4) {
    asm("min.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  return ((a < b) | (a != a)) ? a : b;
}
/// The greater of two numbers; NaN if one of them is.
template <class T>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION T greater_or_nan(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(a) : "f"(b));
    return a;
  }
#endif
  return ((a > b) | (a != a)) ? a : b;
}

/// Calls `visit(pixel, k)` for the pixels k = 0, 1 ... of a mask's word, at most 64 and `n`.
template <class T, class Visit>
KOKKOS_FUNCTION void visit_word(const T* pixels, std::int64_t n, const Visit& visit) {
  for (int k = 0; k < (n < 64 ? static_cast<int>(n) : 64); ++k) visit(pixels[k], k);
}

}  // namespace kastor::detail

#endif
