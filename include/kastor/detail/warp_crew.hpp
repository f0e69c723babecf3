// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WARP_CREW_HPP
#define KASTOR_DETAIL_WARP_CREW_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>

namespace kastor::detail {

/// Whether a WarpCrew of one warp may be a part of a team: where its threads have shuffles.
template <class Member>
inline constexpr bool lone_warps = false;
#ifdef __CUDACC__
template <>
inline constexpr bool lone_warps<TeamMember<Kokkos::Cuda>> = true;
#endif

/// A device's team of a fixed number of threads. On CUDA the threads of a warp hand each other
/// values directly: Kokkos' team reductions go through scratch memory, with a barrier at each step,
/// and take many times as long. One warp has no barriers at all.
template <class Member, int Threads>
class WarpCrew {
 public:
  static constexpr int warp = 32;
  static constexpr int warps = Threads / warp;
  static_assert(Threads % warp == 0);
  static constexpr bool has_lanes = true;  ///< see sort_few
  static constexpr int least_size = Threads;
  /// For the sums of warps.
  struct Space {
    std::uint64_t words[warps > 1 ? warps * 8 : 1];
  };

  KOKKOS_FUNCTION WarpCrew(const Member& team, Space& space) : m_team(team), m_space(space) {}

  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return m_team.team_rank() % Threads; }
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int size() { return Threads; }

  KOKKOS_FUNCTION void barrier() const {
#ifdef __CUDA_ARCH__
    if constexpr (warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
#else
    m_team.team_barrier();
#endif
  }

  /// All threads get the same answer; all must call it. The order of the terms must not matter.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum(V value) const {
#ifdef __CUDA_ARCH__
    add_lanes(value);
    return joined_warps(value, add<V>);
#else
    m_team.team_reduce(Kokkos::Sum<V>(value));
    return value;
#endif
  }

  /// For what is so little that each warp does all of it, and none waits for others: a thread's
  /// place, the number of places, and `sum`. Without lanes, all threads do it together.
#ifdef __CUDA_ARCH__
  [[nodiscard]] __device__ int rank_in_warp() const { return rank() % warp; }
  [[nodiscard]] __device__ static constexpr int warp_size() { return warp; }
  template <class V>
  [[nodiscard]] __device__ V sum_of_warp(V value) const {
    add_lanes(value);
    return value;
  }
#else
  [[nodiscard]] KOKKOS_FUNCTION int rank_in_warp() const { return rank(); }
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int warp_size() { return Threads; }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum_of_warp(const V& value) const {
    return sum(value);
  }
#endif
  /// Of the threads of lower rank; `all`: of all.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum_before(V value, V& all) const {
    static_assert(sizeof(V) <= sizeof(std::uint64_t));
#ifdef __CUDA_ARCH__
    const int lane = rank() % warp;
    const V up_to_here = sum_up_to_lane(value, lane);
    all = value_of_lane(up_to_here, warp - 1);
    V before = up_to_here - value;
    if constexpr (warps > 1) {
      auto* const of_warp = reinterpret_cast<V*>(m_space.words);
      if (lane == 0) of_warp[rank() / warp] = all;
      __syncthreads();
      all = 0;
      KASTOR_UNROLL
      for (int w = 0; w < warps; ++w) {
        before += w < rank() / warp ? of_warp[w] : V{0};
        all += of_warp[w];
      }
      __syncthreads();
    }
    return before;
#else
    const V before = m_team.team_scan(value);
    m_team.team_reduce(Kokkos::Sum<V>(value));
    all = value;
    return before;
#endif
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V smallest(V value) const {
#ifdef __CUDA_ARCH__
    const auto take_lesser = [](V& into, const V& from) { into = from < into ? from : into; };
    join_lanes(value, take_lesser);
    return joined_warps(value, take_lesser);
#else
    m_team.team_reduce(Kokkos::Min<V>(value));
    return value;
#endif
  }

 private:
#ifdef __CUDA_ARCH__
  template <class V>
  __device__ static void add(V& into, const V& from) {
    into += from;
  }
  template <class V>
  __device__ static void add_lanes(V& value) {
    if constexpr (JoinLanes::is_there && requires { value.join(JoinLanes{}); }) {
      value.join(JoinLanes{});
    } else if constexpr (JoinLanes::is_there && requires { JoinLanes{}.add(value); }) {
      JoinLanes{}.add(value);
    } else {
      join_lanes(value, add<V>);
    }
  }
  template <class V, class Join>
  __device__ static void join_lanes(V& value, const Join& join) {
    KASTOR_UNROLL
    for (int lane = warp / 2; lane > 0; lane /= 2) join(value, value_from_across(value, lane));
  }
  /// `value`: the same for all threads of a warp.
  template <class V, class Join>
  [[nodiscard]] __device__ V joined_warps(V value, const Join& join) const {
    static_assert(sizeof(V) <= 64);
    if constexpr (warps > 1) {
      auto* const of_warp = reinterpret_cast<V*>(m_space.words);
      if (rank() % warp == 0) of_warp[rank() / warp] = value;
      __syncthreads();
      value = of_warp[0];
      KASTOR_UNROLL
      for (int w = 1; w < warps; ++w) join(value, of_warp[w]);
      __syncthreads();
    }
    return value;
  }
#endif

  const Member& m_team;
  Space& m_space;
};

#ifdef __CUDA_ARCH__
/// Values [lane * Each, (lane + 1) * Each) of a list that a warp puts in order.
template <int Each, class T>
struct LaneValues {
  T value[Each];
  int lane;

  /// Within the lane, values so far apart and then those half as far and so on; upwards in every
  /// other stretch of `run`.
  template <int Step>
  __device__ void merge(int run) {
    if constexpr (Step > 0) {
      KASTOR_UNROLL
      for (int r = 0; r < Each; ++r)
        if ((r & Step) == 0) order(value[r], value[r | Step], ((lane * Each + r) & run) == 0);
      merge<Step / 2>(run);
    }
  }
  template <int Run = 2>
  __device__ void sort_stretches() {
    if constexpr (Run < Each) {
      merge<Run / 2>(Run);
      sort_stretches<2 * Run>();
    }
  }
  /// `turned`: the lane's bits, inverted where its stretch is put in order downwards.
  __device__ void merge_with_lane_across(int across, int turned) {
    const bool low = (turned & across) == 0;
    KASTOR_UNROLL
    for (int r = 0; r < Each; ++r) {
      const T other = __shfl_xor_sync(~0U, value[r], across);
      keep_if_lesser(low, other, value[r]);
    }
  }

 private:
  /// Or if greater. In place, without the moves of registers that the compiler would add.
  __device__ static void keep_if_lesser(bool low, T other, T& value) {
    if constexpr (sizeof(T) == 4) {
      asm("{\n .reg .pred p;\n setp.ne.s32 p, %2, 0;\n"
          " @p min.f32 %0, %0, %1;\n @!p max.f32 %0, %0, %1;\n}"
          : "+f"(value)
          : "f"(other), "r"(static_cast<int>(low)));
    } else {
      value = low ? Kokkos::fmin(value, other) : Kokkos::fmax(value, other);
    }
  }
  __device__ static void order(T& a, T& b, bool up) {
    const T lesser = Kokkos::fmin(a, b), greater = Kokkos::fmax(a, b);
    a = up ? lesser : greater;
    b = up ? greater : lesser;
  }
};

/// A bitonic sort (Batcher 1968) in the registers of a crew's first warp.
template <int Room, class Crew, class T>
__device__ void sort_in_registers(const Crew& crew, const T* found, int n, T* sorted) {
  constexpr int each = Room / Crew::warp;
  const int lane = crew.rank();
  if (lane >= Crew::warp) return;
  LaneValues<each, T> list;
  list.lane = lane;
  KASTOR_UNROLL
  for (int r = 0; r < each; ++r) {
    const int at = lane * each + r;
    list.value[r] = at < n ? found[at] : Kokkos::Experimental::infinity_v<T>;
  }
  list.sort_stretches();
  // Loops: the code is short, and a processor's store of instructions small.
  KASTOR_KEEP_LOOP
  for (int run = each; run <= Room; run *= 2) {
    const int turned = (lane * each & run) == 0 ? lane : ~lane;
    KASTOR_KEEP_LOOP
    for (int across = run / each >> 1; across > 0; across >>= 1)
      list.merge_with_lane_across(across, turned);
    list.template merge<each / 2>(run);
  }
  KASTOR_UNROLL
  for (int r = 0; r < each; ++r)
    if (lane * each + r < n) sorted[lane * each + r] = list.value[r];
}
#endif

/// Puts at most `Room` values in order, from `found` to `sorted`, which may be the same. All
/// threads of the crew call it, after a barrier; another one follows before the result is read.
template <int Room, class Crew, class T>
KOKKOS_FUNCTION void sort_few(const Crew& crew, const T* found, int n, T* sorted) {
#ifdef __CUDA_ARCH__
  if constexpr (requires { Crew::has_lanes; }) {
    sort_in_registers<Room>(crew, found, n, sorted);
  } else
#endif
  {
    T mine[Room];
    int place[Room], count = 0;
    for (int i = crew.rank(); i < n; i += crew.size()) {
      mine[count] = found[i];
      place[count++] = count_before(found, i, 0, n);
    }
    crew.barrier();
    for (int k = 0; k < count; ++k) sorted[place[k]] = mine[k];
  }
}

/// The same with no more work than their number asks for, from a list of `Least` on.
template <int Least, int Room, class Crew, class T>
KOKKOS_FUNCTION void sort_most(const Crew& crew, const T* found, int n, T* sorted) {
  if constexpr (Room > Least) {
    if (n <= Room / 2) return sort_most<Least, Room / 2>(crew, found, n, sorted);
  }
  sort_few<Room>(crew, found, n, sorted);
}

}  // namespace kastor::detail

#endif
