// SPDX-License-Identifier: Apache-2.0
// The bits of candidates, which the lanes of a warp set for each other.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kastor/detail/candidate_mask.hpp>
#include <kastor/detail/crew.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <string>
#include <vector>

#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using Candidates = std::vector<kd::Candidate<float>>;

constexpr std::int64_t nx = 300, ny = 200, per_row = 5;
constexpr float level = 1;

template <class Exec>
struct SetAbove {
  static constexpr int threads = 256;
  static constexpr int teams_at_once = 4;
  static constexpr int scratch_bytes = 0;
  using Member = kd::TeamMember<Exec>;
  kd::CandidateMask mask;
  const kd::Candidate<float>* some;
  std::int64_t n;
  std::int64_t first;  ///< so many in a call of their own; 0: all in one call
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const kd::TeamCrew<Member> crew(team);
    // Nobody waits in between, as where a team marks one segment after the other.
    if (first > 0) mask.set_above(crew, level, some, first);
    mask.set_above(crew, level, some + first, n - first);
  }
};

/// One by one, as the read does.
template <class Exec>
struct SetOneByOne {
  kd::CandidateMask mask;
  const kd::Candidate<float>* some;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (some[i].value > level) mask.set(static_cast<std::uint32_t>(some[i].pixel));
  }
};

template <class View, class V>
void expect_same(const View& on_device, const std::vector<V>& expected, const std::string& what) {
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, on_device);
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(got(i), expected[i]) << what << ", number " << i;
}

template <class Exec>
void bits_are_set(const Candidates& some, const std::string& what, std::int64_t first = 0) {
  using Space = typename Exec::memory_space;
  std::vector<std::uint64_t> expected(static_cast<std::size_t>(ny * per_row), 0);
  std::vector<std::uint8_t> lines(expected.size() / 8, 0);
  for (const auto& [pixel, value] : some) {
    if (!(value > level)) continue;
    const std::uint64_t x = pixel % nx, word = pixel / nx * per_row + x / 64;
    expected[word] |= std::uint64_t{1} << (x % 64);
    lines[word / 8] = 1;
  }
  const Exec space;
  Kokkos::View<kd::Candidate<float>*, Space> list("list", some.size());
  Kokkos::View<std::uint64_t*, Space> words("words", expected.size());
  Kokkos::View<std::uint8_t*, Space> touched("touched", lines.size());
  const auto host = Kokkos::create_mirror_view(list);
  for (std::size_t i = 0; i < some.size(); ++i) host(i) = some[i];
  Kokkos::deep_copy(space, list, host);
  kd::TeamLauncher<Exec>{space}("test::set_above", 1,
                                SetAbove<Exec>{{nx, per_row, words.data(), {touched.data()}},
                                               list.data(),
                                               static_cast<std::int64_t>(some.size()),
                                               first});
  expect_same(words, expected, what + ", words");
  expect_same(touched, lines, what + ", lines");

  Kokkos::deep_copy(words, std::uint64_t{0});
  Kokkos::deep_copy(touched, std::uint8_t{0});
  Kokkos::parallel_for(
      "test::set", Kokkos::RangePolicy<Exec>(space, 0, some.size()),
      SetOneByOne<Exec>{{nx, per_row, words.data(), {touched.data()}}, list.data()});
  space.fence();
  expect_same(words, expected, what + ", one by one, words");
  expect_same(touched, lines, what + ", one by one, lines");
}

/// Stretches of pixels side by side, of up to so many; some of them not above the level.
[[nodiscard, maybe_unused]] Candidates stretches(std::size_t n, int longest, double share_below) {
  ts::Random random(n + static_cast<std::size_t>(longest));
  Candidates some;
  while (some.size() < n) {
    const auto length = 1 + static_cast<int>(random.uniform() * longest);
    const auto first = static_cast<std::uint64_t>(random.uniform() * (nx * ny - longest));
    for (int k = 0; k < length && some.size() < n; ++k)
      some.push_back({first + static_cast<std::uint64_t>(k),
                      random.uniform() < share_below ? level : 2 * level});
  }
  return some;
}

template <class Exec>
class CandidateLanes : public ::testing::Test {};
TYPED_TEST_SUITE(CandidateLanes, ts::Execs, ts::CaseName);

TYPED_TEST(CandidateLanes, SetTheBitsOfEachOther) {
  if constexpr (!kastor::is_host_space_v<TypeParam>) {
    for (const std::size_t n : {1UL, 5UL, 31UL, 32UL, 33UL, 256UL, 257UL, 1000UL, 1024UL, 4099UL}) {
      for (const int longest : {1, 2, 4, 7, 9, 40, 200}) {
        for (const double share_below : {0.0, 0.3, 0.9})
          bits_are_set<TypeParam>(
              stretches(n, longest, share_below),
              std::to_string(n) + " in stretches of " + std::to_string(longest));
      }
    }
    bits_are_set<TypeParam>(Candidates(500, {77, 2 * level}), "one pixel");
    Candidates in_turns;
    for (std::uint64_t i = 0; i < 600; ++i)
      in_turns.push_back({i % 3 * 100 + i / 3 % 50, i % 7 == 0 ? level : 2 * level});
    bits_are_set<TypeParam>(in_turns, "three words in turns");
  }
}

/// The lanes leave the short way of few candidates at different times, and set bits together next.
TYPED_TEST(CandidateLanes, SetTheBitsOfOneListAfterTheOther) {
  if constexpr (!kastor::is_host_space_v<TypeParam>) {
    for (const int longest : {1, 7, 200}) {
      for (const std::int64_t first : {5, 257, 1000})
        bits_are_set<TypeParam>(
            stretches(1005, longest, 0.3),
            std::to_string(first) + " of 1005 first, in stretches of " + std::to_string(longest),
            first);
    }
  }
}

}  // namespace
