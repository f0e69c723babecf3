// SPDX-License-Identifier: Apache-2.0

// Kernels of calls that are repeated: each runs once in a call, in order, with the arguments that
// it has then, whether they are enqueued one by one or as a graph.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <kastor/detail/enqueue.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <new>
#include <stdexcept>
#include <type_traits>

#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class Exec>
class KernelSequence : public ::testing::Test {};
TYPED_TEST_SUITE(KernelSequence, ts::Execs, ts::CaseName);

/// Orders matter. There is room between the members.
struct TimesAndPlus {
  std::int64_t* value;
  char times;
  std::int64_t plus;
  KOKKOS_FUNCTION void operator()(std::int64_t) const { *value = *value * times + plus; }
};
/// The same, too large for a device's constant memory to be spared by default.
struct LargeTimesAndPlus {
  TimesAndPlus what;
  std::int64_t filling[100];
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { what(i); }
};
template <class Exec>
struct TimesAndPlusByTeam {
  static constexpr int threads = kastor::is_host_space_v<Exec> ? 1 : 32;
  static constexpr int teams_at_once = 1;
  static constexpr int scratch_bytes = 64;
  TimesAndPlus what;
  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    if (team.team_rank() == 0) what(0);
  }
};

template <class Exec>
struct Calls {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Exec space{};
  kd::KernelSequence<Exec> sequence{space, true};
  Kokkos::View<std::int64_t*, typename Exec::memory_space> value{"test::value", 1};
  int inputs[2] = {};
  std::int64_t expected = 0;

  /// What lies between the members is another thing every time.
  void enqueue(std::int64_t plus, bool large) {
    alignas(TimesAndPlus) unsigned char room[sizeof(TimesAndPlus)];
    std::memset(room, garbage++, sizeof room);
    auto* const kernel = new (room) TimesAndPlus;
    kernel->value = value.data();
    kernel->times = 3;
    kernel->plus = plus;
    kd::enqueue_range<Policy>(space, "test::range", 1, *kernel);
    kd::TeamLauncher<Exec>{space}("test::team", 1, TimesAndPlusByTeam<Exec>{{value.data(), 2, 5}});
    if (large)
      kd::enqueue_range<Policy>(space, "test::large", 1,
                                LargeTimesAndPlus{{value.data(), 2, 7}, {}});
  }
  void call(const int* input, std::int64_t plus, bool large = true) {
    sequence(input, [&] {
      kd::enqueue_fill(space, value, plus % 2);  // 0 is another kind of node
      enqueue(plus, large);
    });
    expected = (plus % 2 * 3 + plus) * 2 + 5;
    if (large) expected = expected * 2 + 7;
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, value);
    EXPECT_EQ(found(0), expected) << plus << (large ? " large" : "");
    Kokkos::deep_copy(value, -1);
  }
  unsigned char garbage = 0;
};

/// A device's, unless a tool wants to see the kernels.
template <class Exec>
[[nodiscard]] bool can_be_recorded() {
  return !kastor::is_host_space_v<Exec> && !Kokkos::Tools::profileLibraryLoaded();
}

TYPED_TEST(KernelSequence, DoesWhatEachCallAsksFor) {
  Calls<TypeParam> calls;
  const int *const one = &calls.inputs[0], *const other = &calls.inputs[1];
  for (int repeat = 0; repeat < 5; ++repeat) {
    calls.call(one, 4);
    EXPECT_EQ(calls.sequence.is_recorded(), repeat >= 2 && can_be_recorded<TypeParam>()) << repeat;
  }
  // Another argument, another number of kernels, another input, and none that is known.
  for (const std::int64_t plus : {9, 9, 9, 4, 9, 9, 9}) calls.call(one, plus);
  EXPECT_EQ(calls.sequence.is_recorded(), can_be_recorded<TypeParam>());
  for (const bool large : {false, true, false, false, false, true}) calls.call(one, 9, large);
  for (const int* input : {other, one, other, other, other, other, one}) calls.call(input, 2);
  EXPECT_FALSE(calls.sequence.is_recorded());
  for (int repeat = 0; repeat < 4; ++repeat) calls.call(nullptr, 2);
  EXPECT_FALSE(calls.sequence.is_recorded());
}

/// Reads what other threads of the kernel before wrote, as far away as can be.
struct TurnRound {
  const std::int64_t* from;
  std::int64_t* to;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to[i] = from[n - 1 - i] + 1; }
};

TYPED_TEST(KernelSequence, KernelsSeeWhatTheOnesBeforeWrote) {
  using Policy = Kokkos::RangePolicy<TypeParam, Kokkos::IndexType<std::int64_t>>;
  constexpr std::int64_t n = 300'000;
  constexpr int kernels = 20;
  const TypeParam space;
  kd::KernelSequence<TypeParam> sequence(space, true);
  const Kokkos::View<std::int64_t*, typename TypeParam::memory_space> a("test::a", n), b("b", n);
  const int input = 0;
  for (int repeat = 0; repeat < 6; ++repeat) {
    Kokkos::deep_copy(space, a, repeat);
    sequence(&input, [&] {
      for (int k = 0; k < kernels; k += 2) {
        kd::enqueue_range<Policy>(space, "test::there", n, TurnRound{a.data(), b.data(), n});
        kd::enqueue_range<Policy>(space, "test::back", n, TurnRound{b.data(), a.data(), n});
      }
    });
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, a);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) wrong += found(i) == repeat + kernels ? 0 : 1;
    EXPECT_EQ(wrong, 0) << repeat;
  }
  EXPECT_EQ(sequence.is_recorded(), can_be_recorded<TypeParam>());
}

TYPED_TEST(KernelSequence, MakesNoGraphOfNothing) {
  Calls<TypeParam> calls;
  for (int repeat = 0; repeat < 4; ++repeat) calls.sequence(&calls.inputs[0], [] {});
  EXPECT_FALSE(calls.sequence.is_recorded());
  for (int repeat = 0; repeat < 4; ++repeat) calls.call(&calls.inputs[0], 4);
  EXPECT_EQ(calls.sequence.is_recorded(), can_be_recorded<TypeParam>());
}

TYPED_TEST(KernelSequence, MakesNoneThatNobodyWants) {
  Calls<TypeParam> calls;
  kd::KernelSequence<TypeParam> plain(calls.space, false);
  for (int repeat = 0; repeat < 4; ++repeat)
    plain(&calls.inputs[0], [&] { calls.enqueue(4, true); });
  EXPECT_FALSE(plain.is_recorded());
}

/// The next calls do what they would have done.
TYPED_TEST(KernelSequence, LetsErrorsPass) {
  Calls<TypeParam> calls;
  for (int at = 0; at < 6; ++at) {
    for (int repeat = 0; repeat < at; ++repeat) calls.call(&calls.inputs[0], 4);
    int runs = 0;
    const auto fail = [&] {
      ++runs;
      throw std::runtime_error("test");
    };
    EXPECT_THROW(calls.sequence(&calls.inputs[0], fail), std::runtime_error) << at;
    EXPECT_EQ(runs, 1) << at;
  }
}

/// As a plan that has two of them.
TYPED_TEST(KernelSequence, MayBePartOfAnother) {
  Calls<TypeParam> calls;
  kd::KernelSequence<TypeParam> inner(calls.space, true);
  for (int repeat = 0; repeat < 5; ++repeat) {
    calls.sequence(&calls.inputs[0], [&] {
      kd::enqueue_fill(calls.space, calls.value, 1);
      inner(&calls.inputs[1], [&] { calls.enqueue(repeat / 4, true); });
    });
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, calls.value);
    EXPECT_EQ(found(0), ((3 + repeat / 4) * 2 + 5) * 2 + 7) << repeat;
  }
}

}  // namespace
