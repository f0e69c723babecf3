// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <KokkosBatched_LU_Decl.hpp>
#include <KokkosBatched_LU_Serial_Impl.hpp>
#include <KokkosBatched_Trsv_Decl.hpp>
#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "map_on.hpp"
#include "typed.hpp"

/// The solver of fits, from Kokkos Kernels, gives the bits of the textbook's loops: an upgrade that
/// sums in another order would change the bits of catalogues.
namespace {

namespace ts = testing_support;

constexpr int order = 6;

struct System {
  double matrix[order * order];  ///< by rows
  double right[order];
};

/// What Kokkos Kernels leaves: the factors in place of the matrix, the solution on the right.
struct Solve {
  const System* systems;

  KOKKOS_FUNCTION System operator()(std::int64_t i) const {
    using KokkosBatched::Algo, KokkosBatched::Diag, KokkosBatched::Trans, KokkosBatched::Uplo;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    System system = systems[i];
    const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::AnonymousSpace, Unmanaged> a(
        system.matrix, order, order);
    const Kokkos::View<double*, Kokkos::LayoutRight, Kokkos::AnonymousSpace, Unmanaged> b(
        system.right, order);
    KokkosBatched::SerialLU<Algo::LU::Unblocked>::invoke(a);
    KokkosBatched::SerialTrsv<Uplo::Lower, Trans::NoTranspose, Diag::Unit,
                              Algo::Trsv::Unblocked>::invoke(1.0, a, b);
    KokkosBatched::SerialTrsv<Uplo::Upper, Trans::NoTranspose, Diag::NonUnit,
                              Algo::Trsv::Unblocked>::invoke(1.0, a, b);
    return system;
  }
};

/// The same by hand, element by element.
System solved_by_hand(System system) {
  double* const a = system.matrix;
  double* const b = system.right;
  for (std::size_t p = 0; p < order; ++p) {
    for (std::size_t i = p + 1; i < order; ++i) {
      a[i * order + p] /= a[p * order + p];
      for (std::size_t j = p + 1; j < order; ++j)
        a[i * order + j] -= a[i * order + p] * a[p * order + j];
    }
  }
  for (std::size_t i = 0; i < order; ++i)
    for (std::size_t j = 0; j < i; ++j) b[i] -= a[i * order + j] * b[j];
  for (std::size_t i = order; i-- > 0;) {
    for (std::size_t j = order; j-- > i + 1;) b[i] -= a[i * order + j] * b[j];
    b[i] /= a[i * order + i];
  }
  return system;
}

/// R transposed times R, plus the identity: symmetric and positive definite, as normal equations
/// are.
System random_system(std::mt19937& engine) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::array<double, order * order> r{};
  for (double& value : r) value = number(engine);
  System system{};
  for (std::size_t i = 0; i < order; ++i) {
    system.right[i] = number(engine);
    for (std::size_t j = 0; j < order; ++j) {
      double& value = system.matrix[i * order + j];
      value = i == j ? 1 : 0;
      for (std::size_t k = 0; k < order; ++k) value += r[k * order + i] * r[k * order + j];
    }
  }
  return system;
}

template <class Exec>
class KokkosKernels : public ::testing::Test {};
TYPED_TEST_SUITE(KokkosKernels, ts::Execs, ts::CaseName);

TYPED_TEST(KokkosKernels, SolveAsByHand) {
  std::mt19937 engine(6);
  std::vector<System> systems;
  for (int i = 0; i < 100; ++i) systems.push_back(random_system(engine));
  const auto list = ts::to_device_list<TypeParam>(systems);
  const std::vector<System> solved =
      ts::map_on<TypeParam>(static_cast<std::int64_t>(systems.size()), Solve{list.data()});

  for (std::size_t n = 0; n < systems.size(); ++n) {
    const System expected = solved_by_hand(systems[n]);
    EXPECT_THAT(solved[n].matrix, ::testing::ElementsAreArray(expected.matrix)) << n;
    EXPECT_THAT(solved[n].right, ::testing::ElementsAreArray(expected.right)) << n;
    for (std::size_t i = 0; i < order; ++i) {  // and it is a solution
      double left = 0;
      for (std::size_t j = 0; j < order; ++j)
        left += systems[n].matrix[i * order + j] * solved[n].right[j];
      EXPECT_NEAR(left, systems[n].right[i], 1e-12) << n;
    }
  }
}

}  // namespace
