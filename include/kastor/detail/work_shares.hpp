// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_WORK_SHARES_HPP
#define KASTOR_DETAIL_WORK_SHARES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <kastor/detail/index_range.hpp>
#include <kastor/detail/relaxed.hpp>
#include <kastor/image.hpp>
#include <string>

/// How the threads of a host share the indices of a kernel. Cores are not equally fast where
/// hyperthreads, other programs or other machines share them, and a kernel takes as long as its
/// slowest thread. (Kokkos' dynamic schedule does the same, but 32 threads take some 15
/// microseconds longer for each kernel.)
namespace kastor::detail {

/// Indices [0, n) in shares of neighbours, one or more threads each. Who is done with a share takes
/// from those behind it.
class WorkShares {
 public:
  WorkShares(std::int64_t n, std::int64_t threads)
      : m_threads(threads), m_shares(std::min(threads, most)) {
    constexpr std::int64_t of_share = 32;
    m_chunk = std::max<std::int64_t>(1, n / (m_shares * of_share));
    for (std::int64_t s = 0; s < m_shares; ++s) {
      m_share[s].next = n / m_shares * s + std::min(s, n % m_shares);
      if (s > 0) m_share[s - 1].past = m_share[s].next;
    }
    m_share[m_shares - 1].past = n;
  }

  /// Calls `visit(i)` for what a thread gets; all threads together get each index once.
  template <class Visit>
  void for_each(std::int64_t thread, Visit&& visit) {
    const std::int64_t own = thread * m_shares / m_threads;
    for (std::int64_t s = own; s < own + m_shares; ++s) {
      Share& share = m_share[s < m_shares ? s : s - m_shares];
      // No addition to what is used up: it would take the line of memory from all others.
      while (relaxed_load(&share.next) < share.past) {
        const std::int64_t begin =
            std::atomic_ref(share.next).fetch_add(m_chunk, std::memory_order_relaxed);
        const std::int64_t past = std::min(begin + m_chunk, share.past);
        for (std::int64_t i = begin; i < past; ++i) visit(i);
      }
    }
  }

 private:
  static constexpr std::int64_t most = 128;
  struct alignas(64) Share {
    std::int64_t next, past;
  };
  std::int64_t m_threads, m_shares, m_chunk;
  Share m_share[most];
};

template <class Functor>
struct ForEachOfShares {
  Functor functor;
  WorkShares* shares;
  void operator()(std::int64_t thread) const { shares->for_each(thread, functor); }
};
template <class Functor>
struct ForEachOfWorkers {
  Functor functor;
  WorkShares* shares;
  void operator()(std::int64_t thread) const { shares->for_each(thread, functor.worker(thread)); }
};
template <class Functor>
struct ReduceShares {
  using value_type = typename Functor::value_type;
  Functor functor;
  WorkShares* shares;
  void operator()(std::int64_t thread, value_type& value) const {
    shares->for_each(thread, [&](std::int64_t i) { functor(i, value); });
  }
  void init(value_type& value) const { functor.init(value); }
  void join(value_type& into, const value_type& from) const { functor.join(into, from); }
};

/// Calls functor(i) for [0, n). Hosts share the indices as above.
template <class Exec, class Functor>
void for_each_index(const std::string& label, const Exec& space, std::int64_t n,
                    const Functor& functor) {
  const std::int64_t threads = space.concurrency();
  if constexpr (is_host_space_v<Exec>) {
    if (threads > 1 && n > 1) {
      WorkShares shares(n, threads);
      const ForEachOfShares<Functor> each{functor, &shares};
      // Has ended when it returns, with Serial and OpenMP.
      return Kokkos::parallel_for(label, IndexRange<Exec>(space, 0, threads), each);
    }
  }
  Kokkos::parallel_for(label, IndexRange<Exec>(space, 0, n), functor);
}

/// Hosts: so many share n indices.
template <class Exec>
[[nodiscard]] std::int64_t workers_for(const Exec& space, std::int64_t n) {
  return std::clamp<std::int64_t>(n, 1, space.concurrency());
}
/// Hosts: calls functor.worker(k) for each of them, k from 0, and the results with what they get of
/// [0, n). A worker is one thread's.
template <class Exec, class Functor>
void for_each_index_of_workers(const std::string& label, const Exec& space, std::int64_t n,
                               const Functor& functor) requires is_host_space_v<Exec> {
  const std::int64_t workers = workers_for(space, n);
  WorkShares shares(n, workers);
  const ForEachOfWorkers<Functor> each{functor, &shares};
  Kokkos::parallel_for(label, IndexRange<Exec>(space, 0, workers), each);
}

/// Joins functor(i, value) over [0, n), in any order.
template <class Exec, class Functor>
[[nodiscard]] typename Functor::value_type reduce_indices(const std::string& label,
                                                          const Exec& space, std::int64_t n,
                                                          const Functor& functor) {
  typename Functor::value_type value;
  functor.init(value);
  const std::int64_t threads = space.concurrency();
  if constexpr (is_host_space_v<Exec>) {
    if (threads > 1 && n > 1) {
      WorkShares shares(n, threads);
      const ReduceShares<Functor> reduce{functor, &shares};
      Kokkos::parallel_reduce(label, IndexRange<Exec>(space, 0, threads), reduce, value);
      return value;
    }
  }
  Kokkos::parallel_reduce(label, IndexRange<Exec>(space, 0, n), functor, value);
  return value;
}

}  // namespace kastor::detail

#endif
