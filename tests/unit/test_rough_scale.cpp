// SPDX-License-Identifier: Apache-2.0

// The first steps of a clip's prediction by a team: the few pixels of the rough scale in order, and
// a place looked for beside another one.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

template <class Case>
class RoughScaleOfATeam : public ::testing::Test {};
TYPED_TEST_SUITE(RoughScaleOfATeam, ts::ExecsAndReals, ts::CaseName);

/// A device's teams have whole warps, a host's one thread.
template <class Exec>
[[nodiscard]] Kokkos::TeamPolicy<Exec> teams_of(int count, int threads, int scratch_bytes) {
  Kokkos::TeamPolicy<Exec> policy(count, kastor::is_host_space_v<Exec> ? 1 : threads);
  return policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<std::size_t>(scratch_bytes)));
}

template <class T, class Exec>
struct Describe {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Space = kd::RoughSpace<T>;

  Kokkos::View<const T*, typename Exec::memory_space> pixels;
  Kokkos::View<T*, typename Exec::memory_space> sorted;
  Kokkos::View<kd::RoughScale<T>, typename Exec::memory_space> rough;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const kd::TeamCrew<Member> crew(team);
    Space& space = *kd::scratch_of<Space>(team);
    for (int i = crew.rank(); i < kd::rough_size; i += crew.size()) space.take(i, pixels(i));
    crew.barrier();
    space.template describe<false>(crew, rough());
    crew.barrier();
    for (int i = crew.rank(); i < kd::rough_size; i += crew.size()) sorted(i) = space.sorted[i];
  }
};

template <class Exec, class T>
void pixels_are_put_in_order(const std::vector<T>& pixels, const std::string& what) {
  using Memory = typename Exec::memory_space;
  const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> given(
      pixels.data(), pixels.size());
  const Kokkos::View<T*, Memory> sorted("test::sorted", pixels.size());
  const Kokkos::View<kd::RoughScale<T>, Memory> rough("test::rough");
  Kokkos::parallel_for(
      "test::describe", teams_of<Exec>(1, 256, sizeof(kd::RoughSpace<T>) + 16),
      Describe<T, Exec>{Kokkos::create_mirror_view_and_copy(Memory{}, given), sorted, rough});

  std::vector<T> expected = pixels;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (T& x : expected) x = std::abs(x) < infinity ? x : infinity;  // NaN is not
  std::sort(expected.begin(), expected.end());
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sorted);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(got(i), expected[i]) << what << ", number " << i;

  const auto finite = static_cast<int>(
      std::lower_bound(expected.begin(), expected.end(), infinity) - expected.begin());
  kd::RoughFlags flags;
  kd::RoughScale<T> one_by_one{};
  kd::describe_sorted<false>(kd::Alone{}, expected.data(), finite, flags, one_by_one);
  const kd::RoughScale<T> of_team =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, rough)();
  EXPECT_EQ(of_team.finite, finite) << what;
  EXPECT_EQ(of_team.centre, one_by_one.centre) << what;
  EXPECT_EQ(of_team.scale, one_by_one.scale) << what;
  ASSERT_EQ(of_team.spikes, one_by_one.spikes) << what;
  for (int s = 0; s < of_team.spikes; ++s) EXPECT_EQ(of_team.spike[s], one_by_one.spike[s]) << what;
}

TYPED_TEST(RoughScaleOfATeam, PixelsArePutInOrder) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  ts::Random random(5);
  const auto pixels_of = [](const auto& pixel) {
    std::vector<T> pixels(kd::rough_size);
    for (T& x : pixels) x = pixel();
    return pixels;
  };
  pixels_are_put_in_order<Exec>(pixels_of([&] { return static_cast<T>(random.gaussian()); }),
                                "noise");
  pixels_are_put_in_order<Exec>(pixels_of([&] { return static_cast<T>(random.below(7)) - T{3}; }),
                                "few values");
  pixels_are_put_in_order<Exec>(pixels_of([] { return T{5}; }), "one value");
  pixels_are_put_in_order<Exec>(pixels_of([&] { return random.below(2) == 0 ? T{0} : -T{0}; }),
                                "zeros");
  pixels_are_put_in_order<Exec>(pixels_of([&] {
                                  const auto kind = random.below(5);
                                  if (kind == 0) return nan;
                                  if (kind == 1) return random.below(2) == 0 ? infinity : -infinity;
                                  return static_cast<T>(random.gaussian());
                                }),
                                "some blank");
  pixels_are_put_in_order<Exec>(pixels_of([] { return nan; }), "all blank");
  std::vector<T> falling(kd::rough_size);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = -static_cast<T>(i);
  pixels_are_put_in_order<Exec>(falling, "falling");
}

/// Every team looks for a number from every place.
template <class Exec>
struct LookFromEverywhere {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  Kokkos::View<const std::uint32_t*, typename Exec::memory_space> values;
  Kokkos::View<int*, typename Exec::memory_space> wrong;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const auto x = static_cast<std::uint32_t>(team.league_rank());
    const auto n = static_cast<int>(values.extent(0));
    const int expected = kd::last_not_above(values.data(), n, x);
    int found_elsewhere = 0;
    for (int place = -40; place < n + 40; ++place)
      found_elsewhere += kd::last_not_above_near(values.data(), n, x, place) != expected ? 1 : 0;
    if (team.team_rank() == 0) wrong(team.league_rank()) = found_elsewhere;
  }
};

template <class Exec>
void places_are_found_from_everywhere(std::vector<std::uint32_t> ascending) {
  using Memory = typename Exec::memory_space;
  constexpr int numbers = 300;
  const Kokkos::View<const std::uint32_t*, Kokkos::HostSpace,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      values(ascending.data(), ascending.size());
  const Kokkos::View<int*, Memory> wrong("test::wrong", numbers);
  Kokkos::parallel_for(
      "test::look", teams_of<Exec>(numbers, kd::lanes, 0),
      LookFromEverywhere<Exec>{Kokkos::create_mirror_view_and_copy(Memory{}, values), wrong});
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, wrong);
  for (int x = 0; x < numbers; ++x) EXPECT_EQ(found(x), 0) << x;
}

template <class Exec>
class LastNotAbove : public ::testing::Test {};
TYPED_TEST_SUITE(LastNotAbove, ts::Execs, ts::CaseName);

TYPED_TEST(LastNotAbove, IsFoundFromAnyPlace) {
  ts::Random random(6);
  for (const std::size_t n : {32U, 33U, 200U}) {
    std::vector<std::uint32_t> ascending(n);
    for (auto& v : ascending) v = static_cast<std::uint32_t>(random.below(280));
    std::sort(ascending.begin(), ascending.end());
    places_are_found_from_everywhere<TypeParam>(ascending);
    places_are_found_from_everywhere<TypeParam>(std::vector<std::uint32_t>(n, 7));
  }
}

}  // namespace
