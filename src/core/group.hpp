// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_GROUP_HPP
#define KASTOR_CORE_GROUP_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "core/intrinsics.hpp"
#include "core/launch.hpp"
#include "core/portable.hpp"

/// Groups: threads that work together on one task. A group is a team on a device, and a single
/// thread on a CPU. Code written for a group runs on every backend.
namespace kastor::core {

/// Reducer that joins values by their `operator+=`; the order must not matter.
template <class V>
struct Joiner {
  using reducer = Joiner;
  using value_type = V;
  using result_view_type = Kokkos::View<V, Kokkos::HostSpace>;
  V* value;
  KOKKOS_FUNCTION void join(V& into, const V& from) const { into += from; }
  KOKKOS_FUNCTION V& reference() const { return *value; }
};

/// A thread's rank among some of the threads of a group, which are not synchronised with each
/// other.
struct SubGroup {
  int rank, size;

  /// `visit(i)` for this thread's share of 0 <= i < n.
  template <class Visit>
  KOKKOS_FUNCTION void for_each(int n, const Visit& visit) const {
    for (int i = rank; i < n; i += size) visit(i);
  }
  /// `visit(list[i])` for this thread's share of a list; several loads are in flight at once.
  template <class T, class Visit>
  KOKKOS_FUNCTION void for_each_of(const T* list, std::int64_t n, const Visit& visit) const {
    constexpr int batch = 8;
    const std::int64_t step = size;
    std::int64_t i = rank;
    for (; i + (batch - 1) * step < n; i += batch * step) {
      T value[batch];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) value[k] = list[i + k * step];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k) visit(value[k]);
    }
    for (; i < n; i += step) visit(list[i]);
  }
};

template <class Exec>
class Group {
 public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  /// A group of one thread needs no barriers and no atomics.
  static constexpr bool is_one_thread = runs_on_host_v<Exec> && !portable;
  /// Threads that work on neighbouring pixels of one row in `for_each_2d`.
  static constexpr int side_by_side = runs_on_host_v<Exec> ? 1 : 32;

  KOKKOS_FUNCTION explicit Group(const Member& team) : m_team(team) {}

  /// The team of Kokkos, for functions that take one.
  [[nodiscard]] KOKKOS_FUNCTION const Member& team() const { return m_team; }
  /// Rank of this thread in the group.
  [[nodiscard]] KOKKOS_FUNCTION int rank() const {
    if constexpr (is_one_thread) return 0;
    return m_team.team_rank();
  }
  [[nodiscard]] KOKKOS_FUNCTION int size() const {
    if constexpr (is_one_thread) return 1;
    return m_team.team_size();
  }
  /// Index of this group in the launch.
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t index() const { return m_team.league_rank(); }
  [[nodiscard]] KOKKOS_FUNCTION std::int64_t count() const { return m_team.league_size(); }

  /// Waits for all threads of the group; afterwards each sees what the others wrote.
  KOKKOS_FUNCTION void barrier() const {
    if constexpr (!is_one_thread) m_team.team_barrier();
  }

  /// Scratch memory of the group for `count` objects, not initialised. All threads must call it;
  /// all get the same pointer.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V* scratch(int count = 1) const {
    static_assert(alignof(V) <= 16);
    // get_shmem_aligned takes it by reference.
    const int bytes = count * static_cast<int>(sizeof(V));
    return static_cast<V*>(m_team.team_scratch(0).get_shmem_aligned(bytes, 16));
  }

  /// The sum over all threads, by `operator+=`. All threads must call it; all get the result.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum(V value) const {
    if constexpr (!is_one_thread) m_team.team_reduce(Joiner<V>{&value});
    return value;
  }
  /// The sums of N numbers over all threads, in place. All threads must call it; all get the
  /// result.
  template <int N>
  KOKKOS_FUNCTION void sum_words(std::int64_t (&words)[N]) const {
    if constexpr (!is_one_thread) {
      std::int64_t sums[1][N];
      sum_over_parts(m_team, words, sums);
      KASTOR_UNROLL
      for (int k = 0; k < N; ++k) words[k] = sums[0][k];
    }
  }
  /// Splits the group into parts of neighbouring threads, each of which adds up N numbers of its
  /// own. `add(which, part, words)` adds this thread's share to the words of part `which`. A group
  /// of one thread is every part in turn; otherwise the number of threads in a part is a multiple
  /// of 32. All threads must call it; all get the result.
  template <int parts, int N, class Add>
  KOKKOS_FUNCTION void sum_words_of_parts(std::int64_t (&sums)[parts][N], const Add& add) const {
    if (size() == 1) {
      for (int which = 0; which < parts; ++which) {
        for (std::int64_t& word : sums[which]) word = 0;
        add(which, SubGroup{0, 1}, sums[which]);
      }
    } else {
      const int threads = size() / parts;
      std::int64_t words[N] = {};
      add(rank() / threads, SubGroup{rank() % threads, threads}, words);
      sum_over_parts(m_team, words, sums);
    }
  }
  /// The sum over the threads of lower rank, for numbers of at most 8 bytes. All threads must call
  /// it.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V exclusive_scan(V value) const {
    static_assert(std::is_arithmetic_v<V>);
    if constexpr (is_one_thread) {
      return V{0};
    } else {
      return m_team.team_scan(value);
    }
  }
  /// The smallest (largest) of all threads' values. All threads must call it; all get the result.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V min(V value) const {
    if constexpr (!is_one_thread) m_team.team_reduce(Kokkos::Min<V>(value));
    return value;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V max(V value) const {
    if constexpr (!is_one_thread) m_team.team_reduce(Kokkos::Max<V>(value));
    return value;
  }
  /// The value of one thread. All threads must call it; all get the result.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V broadcast(V value, int from = 0) const {
    if constexpr (!is_one_thread) m_team.team_broadcast(value, from);
    return value;
  }

  /// Adds to a counter in scratch memory and returns its previous value.
  template <class V>
  KOKKOS_FUNCTION V fetch_add(V* counter, V value) const {
    if constexpr (is_one_thread) {
      const V before = *counter;
      *counter = before + value;
      return before;
    } else {
      return fetch_add_in_scratch(counter, value);
    }
  }

  /// Sets bits of a word in scratch memory.
  KOKKOS_FUNCTION void set_bits(std::uint64_t* word, std::uint64_t bits) const {
    if constexpr (is_one_thread) {
      *word |= bits;
    } else {
      Kokkos::atomic_or(word, bits);
    }
  }

  /// Copies `count` objects as 64-bit words; neighbouring threads copy neighbouring words. So
  /// accesses to distant memory, such as the host's, are coalesced.
  template <class V>
  KOKKOS_FUNCTION void copy(const V* from, V* to, int count) const {
    using Word [[gnu::may_alias]] = std::uint64_t;
    static_assert(std::is_trivially_copyable_v<V> && alignof(V) % alignof(Word) == 0);
    const auto* const words_from = reinterpret_cast<const Word*>(from);
    auto* const words_to = reinterpret_cast<Word*>(to);
    for_each(count * static_cast<int>(sizeof(V) / sizeof(Word)),
             [&](int i) { words_to[i] = words_from[i]; });
  }

  /// `visit(list[i])` for this thread's share of a list.
  template <class T, class Visit>
  KOKKOS_FUNCTION void for_each_of(const T* list, std::int64_t n, const Visit& visit) const {
    SubGroup{rank(), size()}.for_each_of(list, n, visit);
  }
  /// Copies n values. Each thread loads a batch before it stores the first one, so several loads
  /// are in flight; in a plain loop the compiler does not move a load before a store.
  template <class T>
  KOKKOS_FUNCTION void copy_list(const T* from, T* to, std::int64_t n) const {
    constexpr int batch = 8;
    const std::int64_t step = size();
    for (std::int64_t i = rank(); i < n; i += batch * step) {
      T value[batch] = {};
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k)
        if (i + k * step < n) value[k] = from[i + k * step];
      KASTOR_UNROLL
      for (int k = 0; k < batch; ++k)
        if (i + k * step < n) to[i + k * step] = value[k];
    }
  }
  /// `visit(i)` for this thread's share of 0 <= i < n, with the size of the group as the stride.
  template <class Index, class Visit>
  KOKKOS_FUNCTION void for_each(Index n, const Visit& visit) const {
    const auto step = static_cast<Index>(size());
    for (auto i = static_cast<Index>(rank()); i < n; i += step) visit(i);
  }
  /// `visit(y, x)` for this thread's share of 0 <= y < ny, 0 <= x < nx; neighbouring threads take
  /// neighbouring x. The size of a team must be a multiple of 32.
  template <class Visit>
  KOKKOS_FUNCTION void for_each_2d(int ny, int nx, const Visit& visit) const {
    for (int y = rank() / side_by_side; y < ny; y += size() / side_by_side)
      for (int x = rank() % side_by_side; x < nx; x += side_by_side) visit(y, x);
  }

 private:
  const Member& m_team;
};

/// Number of multiprocessors of a device, estimated from its concurrency at 2048 threads each. On a
/// CPU the number of threads.
template <class Exec>
[[nodiscard]] int multiprocessor_count(const Exec& space) {
  if constexpr (runs_on_host_v<Exec>) {
    return space.concurrency();
  } else {
    return space.concurrency() > 2048 ? space.concurrency() / 2048 : 1;
  }
}

/// As many groups as the work needs (`of_group` items each), but at most `most` per multiprocessor.
template <class Exec>
[[nodiscard]] std::int64_t groups_for(const Exec& space, std::int64_t work, std::int64_t of_group,
                                      int most) {
  const std::int64_t wanted = (work + of_group - 1) / of_group;
  const std::int64_t held = std::int64_t{multiprocessor_count(space)} * most;
  return wanted < 1 ? 1 : (wanted < held ? wanted : held);
}

/// How a kernel of groups is launched.
struct GroupShape {
  std::int64_t groups = 1;
  int scratch_bytes = 0;  ///< scratch memory of each group
};

namespace impl {

template <class Exec, class Kernel>
struct CallWithGroup {
  Kernel kernel;
  KOKKOS_FUNCTION void operator()(const typename Group<Exec>::Member& team) const {
    kernel(Group<Exec>(team));
  }
};

}  // namespace impl

/// Runs `kernel(group)` for every group. On a device a group has `threads` threads, and a
/// multiprocessor holds at least `at_once` groups if there is enough scratch memory. Enqueues only.
template <int threads, int at_once = 1, class Exec, class Kernel>
void for_each_group(const std::string& label, const Exec& space, const GroupShape& shape,
                    const Kernel& kernel) {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<threads, at_once>>;
  constexpr int size = runs_on_host_v<Exec> ? 1 : threads;
  if (shape.groups < 1) return;
  const int bytes = shape.scratch_bytes + 16;  // room for alignment
  const auto policy =
      impl::light<Exec>(Policy(space, static_cast<int>(shape.groups), size)
                            .set_scratch_size(0, Kokkos::PerTeam(static_cast<std::size_t>(bytes))));
  const impl::CallWithGroup<Exec, Kernel> call{kernel};
  if constexpr (at_once > 1 && !runs_on_host_v<Exec>) {
    // Kokkos refuses a team size that a multiprocessor cannot hold.
    if (policy.team_size_max(call, Kokkos::ParallelForTag{}) < size)
      return for_each_group<threads>(label, space, shape, kernel);
  }
  Kokkos::parallel_for(label, policy, call);
}

}  // namespace kastor::core

#endif
