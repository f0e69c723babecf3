// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_CREW_HPP
#define KASTOR_DETAIL_CREW_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/pixel_pack.hpp>

/// Those who work on one thing together: the threads of a device's team, or one thread of a host.
/// What is written for a crew runs on every backend.
namespace kastor::detail {

/// A host's thread.
struct Alone {
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int rank() { return 0; }
  [[nodiscard]] KOKKOS_FUNCTION static constexpr int size() { return 1; }
  KOKKOS_FUNCTION static void barrier() {}
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION static V sum(const V& value) {
    return value;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION static V joined(const V& value) {
    return value;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION static V smallest(V value) {
    return value;
  }
};

/// The teams of an execution space, for which kernels are written. Tests have teams of their own.
template <class Exec>
struct Teams {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
};
template <class Exec>
using TeamMember = typename Teams<Exec>::Member;

/// Joins values by their `join(other)`, whose order must not matter.
template <class V>
struct Join {
  using reducer = Join;
  using value_type = V;
  using result_view_type = Kokkos::View<V, Kokkos::HostSpace>;

  V* value;

  KOKKOS_FUNCTION void join(V& into, const V& from) const { into.join(from); }
  KOKKOS_FUNCTION V& reference() const { return *value; }
};

/// A device's team. `sum` and its like give all threads the same answer; all must call them.
template <class Member>
class TeamCrew {
 public:
  KOKKOS_FUNCTION explicit TeamCrew(const Member& team) : m_team(team) {}
  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return m_team.team_rank(); }
  [[nodiscard]] KOKKOS_FUNCTION int size() const { return m_team.team_size(); }
  KOKKOS_FUNCTION void barrier() const { m_team.team_barrier(); }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum(V value) const {
    m_team.team_reduce(Kokkos::Sum<V>(value));
    return value;
  }
  /// Of the threads of lower rank.
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum_before(V value) const {
    return m_team.team_scan(value);
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V joined(V value) const {
    m_team.team_reduce(Join<V>{&value});
    return value;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V smallest(V value) const {
    m_team.team_reduce(Kokkos::Min<V>(value));
    return value;
  }

 private:
  const Member& m_team;
};

/// A thread's place among some of a team, who need not wait for each other.
struct Squad {
  int place, places;
  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return place; }
  [[nodiscard]] KOKKOS_FUNCTION int size() const { return places; }
};

/// `found[i]` = find(i) for all threads alike; on CUDA the lanes of a warp find one each, and all
/// of them must call it.
template <class V, int N, class Find>
KOKKOS_FUNCTION void by_lanes(V (&found)[N], const Find& find) {
#ifdef __CUDA_ARCH__
  static_assert(lanes % N == 0);
  join_lanes();
  const V mine = find(this_lane() % N);
  KASTOR_UNROLL
  for (int i = 0; i < N; ++i) found[i] = value_of_lane(mine, i);
#else
  for (int i = 0; i < N; ++i) found[i] = find(i);
#endif
}

/// How many of values [begin, end) sort before value `i`; equal ones keep their order.
template <class T>
[[nodiscard]] KOKKOS_INLINE_FUNCTION int count_before(const T* values, int i, int begin, int end) {
  const T x = values[i];
  int before = 0;
  // A device's threads keep in step; a host's loops become vectors.
  KOKKOS_IF_ON_DEVICE((KASTOR_UNROLL_BY_4 for (int k = begin; k < end; ++k) {
    const T other = values[k];
    before += ((other < x) | ((other == x) & (k < i))) ? 1 : 0;
  }))
  KOKKOS_IF_ON_HOST((const int middle = i < begin ? begin : (i < end ? i : end);
                     for (int k = begin; k < middle; ++k) before += values[k] <= x ? 1 : 0;
                     for (int k = middle; k < end; ++k) before += values[k] < x ? 1 : 0;))
  return before;
}

/// Calls `visit(i, value)` for this thread's share of a list; several values are under way at once.
template <int Batch = 8, class Crew, class Index, class T, class Visit>
KOKKOS_FUNCTION void for_my_places(const Crew& crew, const T* values, Index n, const Visit& visit) {
  Index i = crew.rank();
  const Index step = crew.size();
  for (; i + (Batch - 1) * step < n; i += Batch * step) {
    T loaded[Batch];
    KASTOR_UNROLL
    for (int k = 0; k < Batch; ++k) loaded[k] = values[i + k * step];
    KASTOR_UNROLL
    for (int k = 0; k < Batch; ++k) visit(i + k * step, loaded[k]);
  }
  if (i >= n) return;
  T loaded[Batch]{};
  KASTOR_UNROLL
  for (int k = 0; k < Batch; ++k) {
    if (i + k * step < n) loaded[k] = values[i + k * step];
  }
  KASTOR_UNROLL
  for (int k = 0; k < Batch; ++k) {
    if (i + k * step < n) visit(i + k * step, loaded[k]);
  }
}

/// The same without the places.
template <class Crew, class T, class Visit>
KOKKOS_FUNCTION void for_my_share(const Crew& crew, const T* values, std::int64_t n,
                                  const Visit& visit) {
  for_my_places(crew, values, n, [&](std::int64_t, T x) { visit(x); });
}

/// The same of a long list: several packs of values are under way at once.
template <class Crew, class T, class Visit>
KOKKOS_FUNCTION void for_my_share_in_packs(const Crew& crew, const T* values, std::int64_t n,
                                           const Visit& visit) {
  using Pack = PixelPack<T>;
  const auto before =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(values) / sizeof(T) % Pack::size);
  const std::int64_t to_pack = (Pack::size - before) % Pack::size;
  const std::int64_t first = to_pack < n ? to_pack : n;
  const std::int64_t packs = (n - first) / Pack::size;
  for (std::int64_t i = crew.rank(); i < first; i += crew.size()) visit(values[i]);
  for_my_places<2>(crew, reinterpret_cast<const Pack*>(values + first), packs,
                   [&](std::int64_t, const Pack& pack) {
                     KASTOR_UNROLL
                     for (int k = 0; k < Pack::size; ++k) visit(pack.pixel[k]);
                   });
  for (std::int64_t i = first + packs * Pack::size + crew.rank(); i < n; i += crew.size())
    visit(values[i]);
}

}  // namespace kastor::detail

#endif
