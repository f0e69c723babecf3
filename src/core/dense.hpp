// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_DENSE_HPP
#define KASTOR_CORE_DENSE_HPP

#include <KokkosBatched_LU_Decl.hpp>
#include <KokkosBatched_LU_Serial_Impl.hpp>
#include <KokkosBatched_LU_Team_Impl.hpp>
#include <KokkosBatched_Trsv_Decl.hpp>
#include <KokkosBatched_Trsv_Serial_Impl.hpp>
#include <KokkosBatched_Trsv_Team_Impl.hpp>
#include <Kokkos_Core.hpp>

#include "core/group.hpp"

/// Small dense systems by Kokkos Kernels. Its unblocked forms do the same operations on each
/// element whether a thread or a team does them; the block sizes of the others depend on the
/// backend.
namespace kastor::core {

namespace impl {

using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::AnonymousSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using ConstMatrix = Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::AnonymousSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
using Vector = Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::AnonymousSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace impl

/// Replaces a symmetric positive definite matrix (n x n, row after row) by its factors L and U
/// (L has ones on its diagonal), without pivoting. All threads of the group must call it;
/// afterwards each sees the factors. The matrix was positive definite if the diagonal of U is > 0.
template <class Exec>
KOKKOS_FUNCTION void factorise(const Group<Exec>& group, double* matrix, int n) {
  namespace kb = KokkosBatched;
  const impl::Matrix a(matrix, static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  if constexpr (Group<Exec>::is_one_thread) {
    kb::SerialLU<kb::Algo::LU::Unblocked>::invoke(a);
  } else {
    kb::TeamLU<typename Group<Exec>::Member, kb::Algo::LU::Unblocked>::invoke(group.team(), a);
    group.barrier();
  }
}

/// Whether all diagonal elements of a factorised matrix are above `least`; NaN is not.
[[nodiscard]] KOKKOS_INLINE_FUNCTION bool has_pivots_above(const double* factors, int n,
                                                           double least) {
  for (int i = 0; i < n; ++i)
    if (!(factors[i * n + i] > least)) return false;
  return true;
}

/// Solves L U x = b in place, by one thread.
KOKKOS_INLINE_FUNCTION void solve_factorised(const double* factors, int n, double* b) {
  namespace kb = KokkosBatched;
  const impl::ConstMatrix a(factors, static_cast<std::size_t>(n), static_cast<std::size_t>(n));
  const impl::Vector x(b, static_cast<std::size_t>(n));
  kb::SerialTrsv<kb::Uplo::Lower, kb::Trans::NoTranspose, kb::Diag::Unit,
                 kb::Algo::Trsv::Unblocked>::invoke(1.0, a, x);
  kb::SerialTrsv<kb::Uplo::Upper, kb::Trans::NoTranspose, kb::Diag::NonUnit,
                 kb::Algo::Trsv::Unblocked>::invoke(1.0, a, x);
}

/// The same by all threads of the group; afterwards each sees the solution.
template <class Exec>
KOKKOS_FUNCTION void solve_factorised(const Group<Exec>& group, const double* factors, int n,
                                      double* b) {
  if constexpr (Group<Exec>::is_one_thread) {
    solve_factorised(factors, n, b);
  } else {
    namespace kb = KokkosBatched;
    using Member = typename Group<Exec>::Member;
    const impl::ConstMatrix a(factors, static_cast<std::size_t>(n), static_cast<std::size_t>(n));
    const impl::Vector x(b, static_cast<std::size_t>(n));
    kb::TeamTrsv<Member, kb::Uplo::Lower, kb::Trans::NoTranspose, kb::Diag::Unit,
                 kb::Algo::Trsv::Unblocked>::invoke(group.team(), 1.0, a, x);
    group.barrier();
    kb::TeamTrsv<Member, kb::Uplo::Upper, kb::Trans::NoTranspose, kb::Diag::NonUnit,
                 kb::Algo::Trsv::Unblocked>::invoke(group.team(), 1.0, a, x);
    group.barrier();
  }
}

}  // namespace kastor::core

#endif
