// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_SORT_BY_CREW_HPP
#define KASTOR_DETAIL_SORT_BY_CREW_HPP

#include <Kokkos_Core.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Many pixels put in order by a crew of several warps.
namespace kastor::detail {

/// Of a list that is put in order, what a thread of the crew has in registers: the `Each` pixels
/// from rank * Each on. A bitonic sort (Batcher 1968) whose merges begin with a comparison of each
/// pixel with the one that lies mirrored, so that all comparisons go upwards.
template <int Each, class T>
struct PixelsOfThread {
  T pixel[Each];

  /// Within the thread.
  KOKKOS_FUNCTION void sort() { sort_runs<1>(); }
  /// Of the merge of two runs of threads, what is left when they lie within a thread each.
  KOKKOS_FUNCTION void merge() { merge_from<Each / 2>(); }

  KOKKOS_FUNCTION void multiply(T by) {
    KASTOR_UNROLL
    for (int i = 0; i < Each; ++i) pixel[i] *= by;
  }
  /// Keeps the lesser of each pixel and `negated(i)`, which has the opposite sign, of the one in
  /// the same place or `Mirrored`.
  template <bool Mirrored, class Negated>
  KOKKOS_FUNCTION void keep_lesser(const Negated& negated) {
    if constexpr (Mirrored) {
      KASTOR_UNROLL
      for (int i = 0; i < Each / 2; ++i) {
        const T a = -negated(i), b = -negated(Each - 1 - i);
        pixel[i] = Kokkos::fmin(pixel[i], b);
        pixel[Each - 1 - i] = Kokkos::fmin(pixel[Each - 1 - i], a);
      }
    } else {
      KASTOR_UNROLL
      for (int i = 0; i < Each; ++i) pixel[i] = Kokkos::fmin(pixel[i], -negated(i));
    }
  }

 private:
  template <int Run>
  KOKKOS_FUNCTION void sort_runs() {
    if constexpr (Run < Each) {
      KASTOR_UNROLL
      for (int i = 0; i < Each; ++i)
        if ((i & Run) == 0) order(pixel[i], pixel[i ^ (2 * Run - 1)]);
      merge_from<Run / 2>();
      sort_runs<2 * Run>();
    }
  }
  template <int Step>
  KOKKOS_FUNCTION void merge_from() {
    if constexpr (Step > 0) {
      KASTOR_UNROLL
      for (int i = 0; i < Each; ++i)
        if ((i & Step) == 0) order(pixel[i], pixel[i | Step]);
      merge_from<Step / 2>();
    }
  }
  KOKKOS_FUNCTION static void order(T& a, T& b) {
    const T lesser = Kokkos::fmin(a, b);
    b = Kokkos::fmax(a, b);
    a = lesser;
  }
};

/// Where a crew of `Threads` puts its pixels in order: each thread's lie together, with a place
/// between them and the next thread's, so that neither threads side by side nor pixels side by side
/// meet in a bank of a device's scratch memory.
template <int Each, int Threads, class T>
struct SortRoom {
  static constexpr int pitch = Each + 1;
  T pixels[pitch * Threads];

  [[nodiscard]] KOKKOS_FUNCTION T* of_thread(int rank) { return pixels + rank * pitch; }
  [[nodiscard]] KOKKOS_FUNCTION const T* of_thread(int rank) const { return pixels + rank * pitch; }
  /// Pixel k of those in order.
  [[nodiscard]] KOKKOS_FUNCTION T at(int k) const { return of_thread(k / Each)[k % Each]; }
};

/// Puts the pixels of all threads, none of which is NaN, in order, and leaves them in the room,
/// which all may read then. All threads of the crew must call it.
template <int Each, class Crew, class T>
KOKKOS_FUNCTION void sort_by_crew(const Crew& crew, PixelsOfThread<Each, T>& mine,
                                  SortRoom<Each, Crew::size(), T>& room) {
  const int rank = crew.rank();
  T* const own = room.of_thread(rank);
  const auto leave = [&] {
    crew.barrier();  // the room has been read
    KASTOR_UNROLL
    for (int i = 0; i < Each; ++i) own[i] = mine.pixel[i];
    crew.barrier();
  };
  // Who keeps the greater pixels has them with the opposite sign, and so keeps the lesser ones:
  // that is one instruction of a device, which has few of these in a cycle.
  T sign = 1;
  const auto take_sign = [&](T of_step) {
    mine.multiply(sign * of_step);
    sign = of_step;
  };
  // With the thread whose rank differs in these bits.
  const auto exchange = [&]<bool Mirrored>(int bits, bool lesser) {
    take_sign(lesser ? T{1} : T{-1});
#ifdef __CUDA_ARCH__
    if (bits < lanes) {
      mine.template keep_lesser<Mirrored>(
          [&](int i) { return __shfl_xor_sync(~0U, mine.pixel[i], bits); });
      return;
    }
#endif
    leave();
    const T* const others = room.of_thread(rank ^ bits);
    mine.template keep_lesser<Mirrored>([&](int i) { return others[i]; });
  };
  mine.sort();
  const int size = crew.size();
  KASTOR_KEEP_LOOP
  for (int run = 2; run <= size; run *= 2) {
    exchange.template operator()<true>(run - 1, (rank & run / 2) == 0);
    KASTOR_KEEP_LOOP
    for (int across = run / 4; across > 0; across /= 2)
      exchange.template operator()<false>(across, (rank & across) == 0);
    take_sign(1);
    mine.merge();
  }
  leave();
}

}  // namespace kastor::detail

#endif
