// SPDX-License-Identifier: Apache-2.0

// The first steps of a clip's prediction by a team: the few pixels of the rough scale in order, and
// a place looked for beside another one.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/clip_sample.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/lanes.hpp>
#include <kastor/detail/last_not_above.hpp>
#include <kastor/detail/predict_clip.hpp>
#include <kastor/detail/team_scratch.hpp>
#include <kastor/image.hpp>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

/// A device's teams have whole warps, a host's one thread.
template <class Exec>
struct LaunchTeams {
  template <class Kernel>
  void operator()(const char* label, int league, const Kernel& kernel) const {
    Kokkos::TeamPolicy<Exec> policy(league, kastor::is_host_space_v<Exec> ? 1 : Kernel::threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes));
    Kokkos::parallel_for(label, policy, kernel);
  }
};
/// Many threads on any host, which without a barrier do not see what others wrote.
template <>
struct LaunchTeams<ts::EmulatedTeams> : ts::EmulatedLauncher {};

template <class Exec, class V>
[[nodiscard]] auto copy_for(const std::vector<V>& values) {
  const Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> given(
      values.data(), values.size());
  return Kokkos::create_mirror_view_and_copy(typename Exec::memory_space{}, given);
}

// ------------------------------------------------------------------------------------ rough scale

template <class T, class Exec, bool OfPeaks>
struct Describe {
  using Member = kd::TeamMember<Exec>;
  using Space = kd::RoughSpace<T>;
  static constexpr int threads = 256;
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  Kokkos::View<const T*, typename Exec::memory_space> pixels;
  Kokkos::View<T*, typename Exec::memory_space> sorted;
  Kokkos::View<kd::RoughScale<T>, typename Exec::memory_space> rough;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const kd::TeamCrew<Member> crew(team);
    Space& space = *kd::scratch_of<Space>(team);
    for (int i = crew.rank(); i < kd::rough_size; i += crew.size()) space.take(i, pixels(i));
    crew.barrier();
    space.template describe<OfPeaks>(crew, rough());
    crew.barrier();
    for (int i = crew.rank(); i < kd::rough_size; i += crew.size()) sorted(i) = space.sorted[i];
  }
};

/// What a team says of them, which must be what one thread says of them in order.
template <class Exec, bool OfPeaks, class T>
kd::RoughScale<T> describe(const std::vector<T>& pixels, const std::string& what) {
  using Memory = typename Exec::memory_space;
  const Kokkos::View<T*, Memory> sorted("test::sorted", pixels.size());
  const Kokkos::View<kd::RoughScale<T>, Memory> rough("test::rough");
  LaunchTeams<Exec>{}("test::describe", 1,
                      Describe<T, Exec, OfPeaks>{copy_for<Exec>(pixels), sorted, rough});
  const kd::RoughScale<T> of_team =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, rough)();

  std::vector<T> expected = pixels;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (T& x : expected) x = std::abs(x) < infinity ? x : infinity;  // NaN is not
  std::sort(expected.begin(), expected.end());
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sorted);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(got(i), expected[i]) << what << ", number " << i;

  const auto finite = static_cast<int>(
      std::lower_bound(expected.begin(), expected.end(), infinity) - expected.begin());
  kd::RoughFlags flags;
  kd::RoughScale<T> one_by_one{};
  kd::describe_sorted<OfPeaks>(kd::Alone{}, expected.data(), finite, flags, one_by_one);
  EXPECT_EQ(of_team.finite, finite) << what;
  EXPECT_EQ(of_team.centre, one_by_one.centre) << what;
  EXPECT_EQ(of_team.scale, one_by_one.scale) << what;
  EXPECT_EQ(of_team.spikes, one_by_one.spikes) << what;
  for (int s = 0; s < std::min(of_team.spikes, one_by_one.spikes); ++s)
    EXPECT_EQ(of_team.spike[s], one_by_one.spike[s]) << what;
  return of_team;
}
template <class Exec, class T>
void pixels_are_put_in_order(const std::vector<T>& pixels, const std::string& what) {
  static_cast<void>(describe<Exec, false>(pixels, what));
  static_cast<void>(describe<Exec, true>(pixels, what + ", of peaks"));
}

template <class... Cases>
::testing::Types<Cases..., ts::Case<ts::EmulatedTeams, float>, ts::Case<ts::EmulatedTeams, double>>
    with_emulated_teams(::testing::Types<Cases...>);
struct CaseOrEmulatedName {
  template <class C>
  static std::string GetName(int index) {
    if constexpr (!std::is_same_v<typename C::exec, ts::EmulatedTeams>) {
      return ts::CaseName::GetName<C>(index);
    } else {
      return std::is_same_v<typename C::real, float> ? "Emulated_float" : "Emulated_double";
    }
  }
};

template <class T>
constexpr T infinity_of = std::numeric_limits<T>::infinity();
template <class T>
constexpr T nan_of = std::numeric_limits<T>::quiet_NaN();

template <class T, class Pixel>
[[nodiscard]] std::vector<T> pixels_of(const Pixel& pixel) {
  std::vector<T> pixels(kd::rough_size);
  for (T& x : pixels) x = pixel();
  return pixels;
}

template <class Case>
class RoughScaleOfATeam : public ::testing::Test {};
using TeamsAndReals = decltype(with_emulated_teams(ts::ExecsAndReals{}));
TYPED_TEST_SUITE(RoughScaleOfATeam, TeamsAndReals, CaseOrEmulatedName);

TYPED_TEST(RoughScaleOfATeam, PixelsArePutInOrder) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::Random random(5);
  pixels_are_put_in_order<Exec>(pixels_of<T>([&] { return static_cast<T>(random.gaussian()); }),
                                "noise");
  pixels_are_put_in_order<Exec>(
      pixels_of<T>([&] { return static_cast<T>(random.below(7)) - T{3}; }), "few values");
  pixels_are_put_in_order<Exec>(pixels_of<T>([] { return T{5}; }), "one value");
  pixels_are_put_in_order<Exec>(pixels_of<T>([&] { return random.below(2) == 0 ? T{0} : -T{0}; }),
                                "zeros");
  pixels_are_put_in_order<Exec>(pixels_of<T>([&] {
                                  const auto kind = random.below(5);
                                  if (kind == 0) return nan_of<T>;
                                  if (kind == 1)
                                    return random.below(2) == 0 ? infinity_of<T> : -infinity_of<T>;
                                  return static_cast<T>(random.gaussian());
                                }),
                                "some blank");
  pixels_are_put_in_order<Exec>(pixels_of<T>([] { return nan_of<T>; }), "all blank");
  std::vector<T> falling(kd::rough_size);
  for (std::size_t i = 0; i < falling.size(); ++i) falling[i] = -static_cast<T>(i);
  pixels_are_put_in_order<Exec>(falling, "falling");
}

/// As of a small image, or of a later attempt at a clip.
TYPED_TEST(RoughScaleOfATeam, PlacesWithoutPixelsAreLeftOut) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::Random random(8);
  for (const int n : {229, 17, 1, 0}) {
    for (const bool some_blank : {false, true}) {
      int blank = 0;
      auto pixels = pixels_of<T>([] { return infinity_of<T>; });
      for (int i = 0; i < n; ++i) {
        const bool is_blank = some_blank && random.below(5) == 0;
        blank += is_blank ? 1 : 0;
        pixels[static_cast<std::size_t>(i)] =
            is_blank ? nan_of<T> : static_cast<T>(random.gaussian());
      }
      const std::string what = std::to_string(n) + " pixels";
      EXPECT_EQ((describe<Exec, false>(pixels, what).finite), n - blank) << what;
      EXPECT_EQ((describe<Exec, true>(pixels, what + ", of peaks").finite), n - blank) << what;
    }
  }
}

TYPED_TEST(RoughScaleOfATeam, KeepsTheLowestOfManySpikes) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  constexpr int values = 32;
  std::vector<T> pixels(kd::rough_size);
  // The eight of a value lie in different warps.
  for (std::size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = T(0.25) * static_cast<T>(i * 5 % values);
  for (const auto& rough :
       {describe<Exec, false>(pixels, "spikes"), describe<Exec, true>(pixels, "spikes of peaks")}) {
    constexpr int most = kd::RoughScale<T>::max_spikes;
    static_assert(most < values);
    ASSERT_EQ(rough.spikes, most);
    for (int s = 0; s < most; ++s) EXPECT_EQ(rough.spike[s], T(0.25) * static_cast<T>(s));
  }
}

/// The two ways to find a scale do not agree.
TYPED_TEST(RoughScaleOfATeam, LooksForPeaksIfAsked) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  ts::Random random(9);
  const auto pixels = pixels_of<T>(
      [&] { return static_cast<T>(random.gaussian() + (random.below(5) < 2 ? 200 : 0)); });
  EXPECT_GT((describe<Exec, false>(pixels, "two peaks").scale), 100);
  EXPECT_LT((describe<Exec, true>(pixels, "two peaks, of peaks").scale), 2);
}

// ----------------------------------------------------------------------------------- nearby places

/// Every team looks for a number from every place.
template <class Exec, class V>
struct LookFromEverywhere {
  using Member = kd::TeamMember<Exec>;
  static constexpr int threads = kd::lanes;
  static constexpr int scratch_bytes = 0;

  Kokkos::View<const V*, typename Exec::memory_space> values;
  Kokkos::View<const V*, typename Exec::memory_space> asked;
  Kokkos::View<const int*, typename Exec::memory_space> expected;
  Kokkos::View<int*, typename Exec::memory_space> wrong;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int number = team.league_rank();
    const auto n = static_cast<int>(values.extent(0));
    int mine = 0;  // each lane has an answer
    for (int place = -40; place < n + 40; ++place) {
      const int found = kd::last_not_above_near(values.data(), n, asked(number), place);
      mine += found != expected(number) ? 1 : 0;
    }
    Kokkos::atomic_add(&wrong(number), mine);
  }
};

template <class Exec, class V>
void places_are_found_from_everywhere(const std::vector<V>& ascending, const std::vector<V>& asked,
                                      const std::string& what) {
  std::vector<int> expected;
  for (const V x : asked) {
    const auto above = std::upper_bound(ascending.begin(), ascending.end(), x);
    expected.push_back(std::max(0, static_cast<int>(above - ascending.begin()) - 1));
  }
  const Kokkos::View<int*, typename Exec::memory_space> wrong("test::wrong", asked.size());
  LaunchTeams<Exec>{}("test::look", static_cast<int>(asked.size()),
                      LookFromEverywhere<Exec, V>{copy_for<Exec>(ascending), copy_for<Exec>(asked),
                                                  copy_for<Exec>(expected), wrong});
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, wrong);
  for (std::size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(found(i), 0) << what << ", " << asked[i];
}

/// `unit`: of the values, all of which are multiples of it.
template <class Exec, class V>
void places_are_found_from_everywhere(V unit) {
  ts::Random random(6);
  std::vector<V> asked;
  for (int i = 0; i < 300; ++i) asked.push_back(static_cast<V>(i) * unit);
  for (const std::size_t n : {1U, 31U, 32U, 33U, 200U}) {
    std::vector<V> ascending(n);
    for (V& v : ascending) v = static_cast<V>(random.below(280)) * unit;
    std::sort(ascending.begin(), ascending.end());
    const std::string of_n = " of " + std::to_string(n);
    places_are_found_from_everywhere<Exec>(ascending, asked, "any" + of_n);
    places_are_found_from_everywhere<Exec>(std::vector<V>(n, 7 * unit), asked, "equal" + of_n);
  }
}

template <class Exec>
class LastNotAbove : public ::testing::Test {};
TYPED_TEST_SUITE(LastNotAbove, ts::Execs, ts::CaseName);

TYPED_TEST(LastNotAbove, IsFoundFromAnyPlace) {
  places_are_found_from_everywhere<TypeParam, std::uint32_t>(1);
  // So that 32 bits of a value would not do.
  places_are_found_from_everywhere<TypeParam, std::uint64_t>(std::uint64_t{1} << 33);
  places_are_found_from_everywhere<TypeParam, float>(0.37F);
}

}  // namespace
