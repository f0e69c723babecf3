// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_PACK_HPP
#define KASTOR_CORE_PACK_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/intrinsics.hpp"
#include "core/ordered_key.hpp"
#include "core/portable.hpp"

/// Packs: a few neighbouring pixels in a small array, processed in plain loops. If a loop handles a
/// single type, the CPU compiler vectorises it; the device compiler unrolls it.
namespace kastor::core {

/// Number of pixels that a thread processes at once. On a CPU 64, a word of a bit mask, suits the
/// vector units; on a device more than 16 would exhaust the registers of a thread.
template <class Exec>
inline constexpr int pack_width_v = runs_on_host_v<Exec> && !portable ? 64 : 16;

/// The same where neighbouring threads take neighbouring packs: on a device a thread takes 16
/// bytes, so that the accesses of a warp are coalesced.
template <class Exec, class T>
inline constexpr int narrow_pack_width_v =
    runs_on_host_v<Exec> && !portable ? 64 : 16 / static_cast<int>(sizeof(T));

/// Number of pixels that a thread writes in sequence; one on a device, where neighbouring threads
/// write neighbouring pixels.
template <class Exec>
inline constexpr int write_width_v = runs_on_host_v<Exec> && !portable ? 64 : 1;

/// W neighbouring pixels.
template <class T, int W>
struct Pack {
  static constexpr int width = W;
  alignas(16) T pixel[W];

  /// Loads W pixels; requires `is_aligned(from)`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static Pack load(const T* from) {
    Pack pack;
    load_aligned<W>(from, pack.pixel);
    return pack;
  }
  /// Loads `n` pixels from any address; the others are set to `rest`.
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static Pack load(const T* from, std::int64_t n,
                                                             T rest) {
    Pack pack;
    KASTOR_UNROLL
    for (int j = 0; j < W; ++j) pack.pixel[j] = j < n ? from[j] : rest;
    return pack;
  }
  /// Requires `is_aligned(to)`.
  KOKKOS_FORCEINLINE_FUNCTION void store(T* to) const { store_aligned<W>(pixel, to); }
};

/// A pack that refers to its pixels in memory, so that a CPU need not copy them first.
template <class T, int W>
struct PackInPlace {
  static constexpr int width = W;
  const T* pixel;
};

/// The pack at an address that is aligned to 16 bytes. On a device it is copied to registers.
template <int W, class T>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION auto pack_at(const T* from) {
  if constexpr (W > 16) {
    return PackInPlace<T, W>{from};
  } else {
    return Pack<T, W>::load(from);
  }
}

/// 1 << j for every bit j of a key.
template <class K>
struct SingleBits {
  K bit[8 * sizeof(K)];
  constexpr SingleBits() : bit() {
    for (std::size_t j = 0; j < 8 * sizeof(K); ++j) bit[j] = K{1} << j;
  }
};
/// Bit j is set if `is_so(pixel j)`, which must not branch.
template <class SomePack, class Condition>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint64_t bits_where(const SomePack& pack,
                                                                   const Condition& is_so) {
  constexpr int width = SomePack::width;
  if constexpr (width <= 16) {
    std::uint32_t bits = 0;
    KASTOR_UNROLL
    for (int j = 0; j < width; ++j) bits |= (is_so(pack.pixel[j]) ? 1U : 0U) << j;
    return bits;
  } else {
    // A single type per loop: as many pixels as a key has bits, each with its own bit as a
    // constant.
    using K = Key<std::remove_cvref_t<decltype(pack.pixel[0])>>;
    constexpr int in_key =
        width < 8 * static_cast<int>(sizeof(K)) ? width : 8 * static_cast<int>(sizeof(K));
    constexpr SingleBits<K> single;
    std::uint64_t bits = 0;
    KASTOR_UNROLL
    for (int first = 0; first < width; first += in_key) {
      K some = 0;
      for (int j = 0; j < in_key; ++j) some |= is_so(pack.pixel[first + j]) ? single.bit[j] : K{0};
      bits |= std::uint64_t{some} << first;
    }
    return bits;
  }
}

/// Number of pixels for which `is_so(pixel)` holds; `is_so` must not branch.
template <class SomePack, class Condition>
[[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION int count_where(const SomePack& pack,
                                                          const Condition& is_so) {
  Key<std::remove_cvref_t<decltype(pack.pixel[0])>> count = 0;  // a single type per loop
  KASTOR_UNROLL
  for (int j = 0; j < SomePack::width; ++j) count += is_so(pack.pixel[j]) ? 1 : 0;
  return static_cast<int>(count);
}

/// `visit(pack, j)` for the packs that cover n <= 64 pixels; pixel j is the first of the pack.
/// Places beyond n hold NaN, for which every comparison is false.
template <int width, class T, class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_each_pack(const T* pixels, std::int64_t n,
                                               const Visit& visit) {
  constexpr T nan = Kokkos::Experimental::quiet_NaN_v<T>;
  if (n == 64 && is_aligned(pixels)) {
    if constexpr (width == 64) {
      visit(PackInPlace<T, width>{pixels}, 0);
    } else {
      KASTOR_KEEP_LOOP
      for (int j = 0; j < 64; j += width) visit(Pack<T, width>::load(pixels + j), j);
    }
  } else {
    KASTOR_KEEP_LOOP
    for (int j = 0; j < n; j += width) visit(Pack<T, width>::load(pixels + j, n - j, nan), j);
  }
}

}  // namespace kastor::core

#endif
