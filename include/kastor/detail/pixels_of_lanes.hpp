// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_PIXELS_OF_LANES_HPP
#define KASTOR_DETAIL_PIXELS_OF_LANES_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/copy_ahead.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/measured_runs.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/prefetch.hpp>

namespace kastor::detail {

/// Whether a processor of a device can copy into scratch memory while it computes, and has room for
/// so many teams with so much of it.
template <class Exec>
[[nodiscard]] bool has_room_for_lines(const Exec& space, int teams, int bytes) {
  if constexpr (requires { space.cuda_device_prop(); }) {
    constexpr int first_with_copies = 8;
    constexpr int of_system = 1024;  // that CUDA adds to each team's
    const auto& device = space.cuda_device_prop();
    return device.major >= first_with_copies &&
           device.sharedMemPerMultiprocessor >=
               static_cast<std::size_t>(teams * (bytes + of_system));
  } else {
    return false;
  }
}

/// How the lanes of a warp go through a long run each. Were each to read its own, every load would
/// ask for 32 lines of memory, again for each sixteen bytes. So the warp copies a line's worth of
/// all runs into scratch memory, eight lanes for each run, while every lane looks at the one
/// before.
template <class T>
class PixelsOfLanes {
  using Pack = PixelPack<T>;
  static constexpr int packs = 8;  ///< of a run that are copied at once
  static constexpr int lines = 2;  ///< of a run: one is looked at, one on its way
  static constexpr int pack_bytes = sizeof(Pack);
  static constexpr int line_bytes = packs * pack_bytes;

 public:
  static constexpr int bytes = lines * lanes * line_bytes;  ///< of a warp

#ifdef KASTOR_COPIES_AHEAD
  /// `room`: `bytes` at a multiple of 16.
  __device__ explicit PixelsOfLanes(void* room)
      : m_room(static_cast<int>(__cvta_generic_to_shared(room))) {}

  /// Calls `sums.take(x, pixel)` or `sums.take(x, pack)` from left to right for the pixels of a
  /// lane's run, which may have none. All lanes must call it.
  template <class Sums>
  __device__ void visit(const T* pixels, std::int32_t begin, std::int32_t end, Sums& sums) const {
    const auto take = [&](std::int32_t at, T pixel) { sums.take(at, pixel); };
    const std::int32_t head = pixels_before_pack(pixels + begin);
    std::int32_t x = head < end - begin ? begin + head : end;
    const T* const first = pixels + x;
    const std::int32_t full = (end - x) / Pack::size;
    join_lanes();
    const std::int32_t most = __reduce_max_sync(~0U, full);
    ask(first, full, 0, 0);
    visit_at_most<Pack::size>(pixels, begin, x, take);
    int line = 0;
    KASTOR_KEEP_LOOP
    for (std::int32_t k = 0; k < most; k += packs) {
      join_lanes();  // the line before has been looked at
      ask(first, full, k + packs, 1 - line);
      constexpr int ahead = 4 * packs;
      if (full - k > ahead) prefetch(reinterpret_cast<const Pack*>(first) + k + ahead);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
      join_lanes();  // what other lanes copied is there
      look_at(line, full - k, x, sums);
      line = 1 - line;
    }
    visit_at_most<Pack::size>(pixels, x, end, take);
  }

 private:
  /// Address of a run's line.
  [[nodiscard]] __device__ int line_of(int run, int line) const {
    return m_room + (line * lanes + run) * line_bytes;
  }
  /// Bytes from a line's start to a pack. So that no two of eight lanes meet at a bank, each run
  /// has its packs in an order of its own.
  [[nodiscard]] __device__ static int place_of(int run, int pack) {
    return (run % packs ^ pack) * pack_bytes;
  }
  /// A line, or the `left` packs that are left.
  template <class Sums>
  __device__ void look_at(int line, std::int32_t left, std::int32_t& x, Sums& sums) const {
    const int lane = this_lane();
    const int from = line_of(lane, line);
    if (left >= packs) {
      constexpr int some = 2;
      KASTOR_KEEP_LOOP
      for (int p = 0; p < packs; p += some) {
        Pack loaded[some];
        KASTOR_UNROLL
        for (int j = 0; j < some; ++j) loaded[j] = pack_at(from + place_of(lane, p + j));
        KASTOR_UNROLL
        for (int j = 0; j < some; ++j) sums.take(x + j * Pack::size, loaded[j]);
        x += some * Pack::size;
      }
      return;
    }
    KASTOR_KEEP_LOOP
    for (int p = 0; p < left; ++p) {
      sums.take(x, pack_at(from + place_of(lane, p)));
      x += Pack::size;
    }
  }
  /// Copies packs k, k + 1 ... of each lane's run, as far as there are any.
  __device__ void ask(const T* first, std::int32_t full, std::int32_t k, int line) const {
    const int lane = this_lane();
    const int mine = lane % packs;
    KASTOR_UNROLL_BY_4
    for (int i = 0; i < packs; ++i) {
      const int run = i * (lanes / packs) + lane / packs;
      const auto* const from = reinterpret_cast<const Pack*>(value_of_lane(first, run));
      const bool is_there = k + mine < value_of_lane(full, run);
      asm volatile(
          "{\n .reg .pred p;\n setp.ne.s32 p, %2, 0;\n"
          " @p cp.async.cg.shared.global [%0], [%1], 16;\n}" ::"r"(line_of(run, line) +
                                                                   place_of(run, mine)),
          "l"(from + k + mine), "r"(static_cast<int>(is_there))
          : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  [[nodiscard]] __device__ static Pack pack_at(int address) {
    Pack pack;
    float* const at = reinterpret_cast<float*>(pack.pixel);
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(at[0]), "=f"(at[1]), "=f"(at[2]), "=f"(at[3])
                 : "r"(address)
                 : "memory");
    return pack;
  }

  int m_room;
#elif defined(__CUDA_ARCH__)
  __device__ explicit PixelsOfLanes(void* /*room*/) {}
  template <class Sums>
  __device__ void visit(const T* pixels, std::int32_t begin, std::int32_t end, Sums& sums) const {
    visit_run(pixels, begin, end, [&](std::int32_t x, T pixel) { sums.take(x, pixel); });
  }
#endif
};

}  // namespace kastor::detail

#endif
