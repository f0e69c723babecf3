// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_COPY_AHEAD_HPP
#define KASTOR_DETAIL_COPY_AHEAD_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/pixel_pack.hpp>

/// Where threads can copy pixels into scratch memory while they look at others.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define KASTOR_COPIES_AHEAD
#endif

namespace kastor::detail {

/// Scratch memory for chunks of `Packs` packs that are on their way to a thread: registers for
/// them would be too many. Each thread of a crew has places of its own, so that nobody waits for
/// others.
template <class T, int Packs>
struct ChunkRing {
  static constexpr int chunks = 2;
  /// Of each thread.
  static constexpr int pixels = chunks * Packs * PixelPack<T>::size;

#ifdef KASTOR_COPIES_AHEAD
  /// `room`: `pixels` of each of `threads` threads, at a multiple of 16 bytes.
  __device__ ChunkRing(T* room, int rank, int threads)
      : m_pack(threads * static_cast<int>(sizeof(PixelPack<T>))),
        m_asked(static_cast<int>(__cvta_generic_to_shared(room)) +
                rank * static_cast<int>(sizeof(PixelPack<T>))),
        m_both(2 * m_asked + Packs * m_pack) {}

  /// Asks for pack k of a chunk.
  __device__ void ask(bool condition, int k, const T* from) const {
    asm volatile(
        "{\n .reg .pred p;\n setp.ne.s32 p, %2, 0;\n"
        " @p cp.async.cg.shared.global [%0], [%1], 16;\n}" ::"r"(m_asked + k * m_pack),
        "l"(from), "r"(static_cast<int>(condition))
        : "memory");
  }
  /// All packs of the chunk were asked for, or there is none.
  __device__ void end_chunk() const { asm volatile("cp.async.commit_group;" ::: "memory"); }
  /// On to the next chunk.
  __device__ void step() { m_asked = m_both - m_asked; }
  /// The chunk before the one that was asked for last.
  __device__ void take(T* to) const {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    KASTOR_UNROLL
    for (int k = 0; k < Packs; ++k) {
      float* const at = reinterpret_cast<float*>(to + k * PixelPack<T>::size);
      asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                   : "=f"(at[0]), "=f"(at[1]), "=f"(at[2]), "=f"(at[3])
                   : "r"(m_both - m_asked + k * m_pack)
                   : "memory");
    }
  }
  __device__ static void wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }

 private:
  int m_pack;           ///< bytes from a pack to the next
  int m_asked, m_both;  ///< addresses of the chunk asked for last, and of both together
#endif
};

}  // namespace kastor::detail

#endif
