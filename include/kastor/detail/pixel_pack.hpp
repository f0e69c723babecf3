// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PIXEL_PACK_HPP
#define KASTOR_DETAIL_PIXEL_PACK_HPP

#if defined(__CUDACC__) || defined(__clang__)
#define KASTOR_UNROLL _Pragma("unroll")
#define KASTOR_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define KASTOR_UNROLL _Pragma("GCC unroll 64")
#define KASTOR_UNROLL_BY_4 _Pragma("GCC unroll 4")
#endif

namespace kastor::detail {

/// 16 bytes of pixels, which a device loads at once.
template <class T>
struct alignas(16) PixelPack {
  static constexpr int size = 16 / sizeof(T);
  T pixel[size];
};

}  // namespace kastor::detail

#endif
