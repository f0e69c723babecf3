// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_EIGHTHS_HPP
#define KASTOR_CORE_EIGHTHS_HPP

#include <Kokkos_Core.hpp>

#include "core/group.hpp"

/// Sums of floating-point numbers in a fixed order: the terms i, i + 8, i + 16, ... make the i-th
/// of eight partial sums, and these are added in pairs 4, 2 and 1 apart. Eight threads of a device
/// add one each; one thread of a CPU adds all of them at once with its vector unit.
namespace kastor::core {

inline constexpr int eighths = 8;

/// Threads of a group per job of `sum_in_eighths`, if they are that many.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int octets_of(int threads) {
  return threads < eighths ? 1 : threads / eighths;
}
/// Numbers of scratch memory that `sum_in_eighths<N>` needs in a group of that many threads.
[[nodiscard]] KOKKOS_INLINE_FUNCTION constexpr int eighths_scratch(int sums, int threads) {
  return sums * eighths * octets_of(threads);
}

/// Adds up eight partial sums.
[[nodiscard]] KOKKOS_INLINE_FUNCTION double sum_of_eighths(const double* part) {
  const double a = part[0] + part[4];
  const double b = part[1] + part[5];
  const double c = part[2] + part[6];
  const double d = part[3] + part[7];
  return (a + c) + (b + d);
}

/// `kernel.at<W>(i)` for blocks of W indices from i on, which together are 0 <= i < n, a multiple
/// of 8; by this thread's share of them.
template <class Exec, class Kernel>
KOKKOS_FUNCTION void for_each_eight(const Group<Exec>& group, int n, const Kernel& kernel) {
  constexpr int width = Group<Exec>::is_one_thread ? eighths : 1;
  group.for_each(n / width, [&](int block) { kernel.template at<width>(block * width); });
}

/// N sums for each of several jobs, over 0 <= i < n, a multiple of 8. `terms(job)` gives an object
/// whose `add<W>(i, double (&sum)[N][W])` adds the terms i to i + W - 1 to W sums each, in loops
/// over W numbers of one type, which a CPU's compiler vectorises. Calls `store(job, k, sum k)`. All
/// threads of the group must call it; afterwards each sees what was stored.
template <int N, class Exec, class Terms, class Store>
KOKKOS_FUNCTION void sum_in_eighths(const Group<Exec>& group, double* scratch, int jobs, int n,
                                    const Terms& terms, const Store& store) {
  if constexpr (Group<Exec>::is_one_thread) {
    for (int job = 0; job < jobs; ++job) {
      const auto some = terms(job);
      double part[N][eighths] = {};
      for (int i = 0; i < n; i += eighths) some.template add<eighths>(i, part);
      for (int k = 0; k < N; ++k) store(job, k, sum_of_eighths(part[k]));
    }
  } else {
    const int octets = octets_of(group.size());
    for (int base = 0; base < jobs; base += octets) {
      const int of_round = jobs - base < octets ? jobs - base : octets;
      group.for_each(of_round * eighths, [&](int at) {
        const auto some = terms(base + at / eighths);
        double sum[N][1] = {};
        for (int i = at % eighths; i < n; i += eighths) some.template add<1>(i, sum);
        KASTOR_UNROLL
        for (int k = 0; k < N; ++k)
          scratch[(at / eighths * N + k) * eighths + at % eighths] = sum[k][0];
      });
      group.barrier();
      group.for_each(of_round * N, [&](int at) {
        store(base + at / N, at % N, sum_of_eighths(scratch + at * eighths));
      });
      group.barrier();
    }
  }
}

/// The sums of the terms begin <= j < end of the indices i to i + W - 1.
template <int N, int W, class Terms>
KOKKOS_FUNCTION void sum_run(const Terms& terms, int i, int begin, int end, double (&sum)[N][W]) {
  double run[N][W] = {};
  for (int j = begin; j < end; ++j) terms.template add<W>(i, j, run);
  KASTOR_UNROLL
  for (int k = 0; k < N; ++k) {
    KASTOR_UNROLL
    for (int l = 0; l < W; ++l) sum[k][l] += run[k][l];
  }
}

/// N sums for each 0 <= i < n, a multiple of 8, over runs of indices j: those of a run are added,
/// and then the runs, in their order. `runs(first, last)` gives an object for the indices i from
/// first to last, whose `next(begin, end)` sets the next run, or returns false. Terms of an index
/// that are not in the runs for it alone must be 0. `terms.add<W>(i, j, double (&sum)[N][W])` adds
/// the terms j of the indices i to i + W - 1. Calls `store(i, k, sum k)`.
template <int N, class Exec, class Runs, class Terms, class Store>
KOKKOS_FUNCTION void sum_for_each(const Group<Exec>& group, int n, const Runs& runs,
                                  const Terms& terms, const Store& store) {
  // A CPU takes eight neighbours at once.
  constexpr int width = Group<Exec>::is_one_thread ? eighths : 1;
  group.for_each(n / width, [&](int at) {
    const int first = at * width;
    auto of_these = runs(first, first + width - 1);
    double sum[N][width] = {};
    int begin = 0;
    int end = 0;
    while (of_these.next(begin, end)) sum_run(terms, first, begin, end, sum);
    for (int i = 0; i < width; ++i) {
      for (int k = 0; k < N; ++k) store(first + i, k, sum[k][i]);
    }
  });
}

}  // namespace kastor::core

#endif
