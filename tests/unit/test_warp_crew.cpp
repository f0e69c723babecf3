// SPDX-License-Identifier: Apache-2.0

// What the threads of a device's team tell each other: by the instructions of its warps where there
// are any, and by teams of a host's threads.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/cell_sums.hpp>
#include <kastor/detail/pixel_pack.hpp>
#include <kastor/detail/sort_by_crew.hpp>
#include <kastor/detail/team_launcher.hpp>
#include <kastor/detail/warp_crew.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

// ----------------------------------------------------------------------------------------- crews

template <class Exec>
struct Launcher : kd::TeamLauncher<Exec> {
  void fence() const { this->space.fence("test::warp_crew"); }
};
template <>
struct Launcher<ts::EmulatedTeams> : ts::EmulatedLauncher {
  void fence() const {}
};

template <class Exec, int Threads>
struct OneCrew {
  static constexpr int threads = Threads;
  static constexpr int teams_at_once = 1;
  using Member = kd::TeamMember<Exec>;
  using Crew = kd::WarpCrew<Member, Threads>;
  using Space = typename Crew::Space;
  static constexpr int scratch_bytes = sizeof(Space) + 16;

  [[nodiscard]] KOKKOS_FUNCTION static Space& space(const Member& team) {
    const int bytes = sizeof(Space);
    return *static_cast<Space*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
  }
};

/// Each thread's answers.
template <class V>
struct Answers {
  V sum, smallest, before, all_before;
};

template <class Exec, int Threads, class V>
struct Ask : OneCrew<Exec, Threads> {
  using Base = OneCrew<Exec, Threads>;
  const V* of_thread;
  Answers<V>* answers;

  KOKKOS_FUNCTION void operator()(const typename Base::Member& team) const {
    const typename Base::Crew crew(team, Base::space(team));
    const V mine = of_thread[crew.rank()];
    Answers<V> found{};
    found.sum = crew.sum(mine);
    found.smallest = crew.smallest(mine);
    found.before = crew.sum_before(mine, found.all_before);
    answers[crew.rank()] = found;
  }
};

template <class Exec, int Threads, class V>
struct AddUp : OneCrew<Exec, Threads> {
  using Base = OneCrew<Exec, Threads>;
  const V* of_thread;
  V* sums;

  KOKKOS_FUNCTION void operator()(const typename Base::Member& team) const {
    const typename Base::Crew crew(team, Base::space(team));
    sums[crew.rank()] = crew.sum(of_thread[crew.rank()]);
  }
};

template <class Exec, int Threads, int Room, class T>
struct Sort : OneCrew<Exec, Threads> {
  using Base = OneCrew<Exec, Threads>;
  const T* found;
  int n;
  T* sorted;

  KOKKOS_FUNCTION void operator()(const typename Base::Member& team) const {
    const typename Base::Crew crew(team, Base::space(team));
    kd::sort_most<64, Room>(crew, found, n, sorted);
  }
};

/// All threads together. Afterwards each pixel is asked for by its rank.
template <class Exec, int Threads, int Each, class T>
struct SortAll : OneCrew<Exec, Threads> {
  using Base = OneCrew<Exec, Threads>;
  struct Space {
    typename Base::Space crew;
    kd::SortRoom<Each, Threads, T> room;
  };
  static constexpr int scratch_bytes = sizeof(Space) + 16;
  const T* found;
  T* sorted;

  KOKKOS_FUNCTION void operator()(const typename Base::Member& team) const {
    const int bytes = sizeof(Space);
    auto& space = *static_cast<Space*>(team.team_scratch(0).get_shmem_aligned(bytes, 16));
    const typename Base::Crew crew(team, space.crew);
    kd::PixelsOfThread<Each, T> mine;
    for (int i = 0; i < Each; ++i) mine.pixel[i] = found[crew.rank() + i * Threads];
    kd::sort_by_crew(crew, mine, space.room);
    for (int i = crew.rank(); i < Each * Threads; i += Threads) sorted[i] = space.room.at(i);
  }
};

template <class Exec, class V>
using Values = Kokkos::View<V*, typename Exec::memory_space>;

template <class Exec, class V>
Values<Exec, V> copy_of(const std::vector<V>& values) {
  Values<Exec, V> copy(Kokkos::view_alloc("test::values", Kokkos::WithoutInitializing),
                       values.size());
  const Kokkos::View<const V*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(values.data(),
                                                                                values.size());
  Kokkos::deep_copy(copy, from);
  return copy;
}
template <class Exec, class V>
std::vector<V> on_host(const Values<Exec, V>& values) {
  const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values);
  return {copy.data(), copy.data() + copy.extent(0)};
}

template <class Exec, int Threads, class V>
void expect_answers(const std::vector<V>& of_thread) {
  ASSERT_EQ(of_thread.size(), std::size_t{Threads});
  const auto input = copy_of<Exec>(of_thread);
  const auto answers = copy_of<Exec>(std::vector<Answers<V>>(Threads));
  const Launcher<Exec> launch;
  launch("ask", 1, Ask<Exec, Threads, V>{{}, input.data(), answers.data()});
  launch.fence();
  const V sum = std::accumulate(of_thread.begin(), of_thread.end(), V{0});
  const V smallest = *std::min_element(of_thread.begin(), of_thread.end());
  V before = 0;
  const auto got = on_host<Exec>(answers);
  for (std::size_t rank = 0; rank < Threads; ++rank) {
    EXPECT_EQ(got[rank].sum, sum) << rank << " of " << Threads;
    EXPECT_EQ(got[rank].smallest, smallest) << rank << " of " << Threads;
    EXPECT_EQ(got[rank].before, before) << rank << " of " << Threads;
    EXPECT_EQ(got[rank].all_before, sum) << rank << " of " << Threads;
    before += of_thread[rank];
  }
}

template <class T>
auto fields(const kd::CellRead<T>& read) {
  return std::tuple(read.min, read.max, read.good, read.below, read.inside, read.lost, read.blank);
}
auto fields(const kd::CellSums& sums) {
  return std::tuple(sums.sum, sums.squares, sums.inside, sums.below, sums.lost);
}
auto fields(const kd::GridSums& sums) { return std::tuple(sums.sum, sums.squares); }
auto fields(const kd::CellCountsBelow& counts) { return std::tuple(counts.low, counts.middle); }

/// All threads must get `want`.
template <class Exec, int Threads, class V>
void expect_sum(const std::vector<V>& of_thread, const V& want) {
  ASSERT_EQ(of_thread.size(), std::size_t{Threads});
  const auto input = copy_of<Exec>(of_thread);
  const auto sums = copy_of<Exec>(std::vector<V>(Threads, of_thread[0]));
  const Launcher<Exec> launch;
  launch("add up", 1, AddUp<Exec, Threads, V>{{}, input.data(), sums.data()});
  launch.fence();
  for (const V& got : on_host<Exec>(sums)) EXPECT_EQ(fields(got), fields(want)) << Threads;
}

/// Of either sign and any magnitude below 2^bits.
std::int64_t any_integer(ts::Random& random, int bits) {
  const double magnitude = std::ldexp(random.uniform(), 1 + static_cast<int>(random.below(bits)));
  return static_cast<std::int64_t>(random.below(2) == 0 ? magnitude : -magnitude);
}

template <class Exec, int Threads>
void integers_add_up() {
  ts::Random random(Threads);
  for (int trial = 0; trial < 4; ++trial) {
    std::vector<int> small;
    std::vector<std::uint32_t> counts;
    std::vector<std::int64_t> large;
    for (int i = 0; i < Threads; ++i) {
      small.push_back(static_cast<int>(any_integer(random, 22)));
      counts.push_back(static_cast<std::uint32_t>(random.below(1U << 24)));
      large.push_back(any_integer(random, 54));
    }
    expect_answers<Exec, Threads>(small);
    expect_answers<Exec, Threads>(counts);
    expect_answers<Exec, Threads>(large);
  }
  // Each of the parts that a sum is made of, full in all lanes.
  for (const std::int64_t one :
       {std::int64_t{-1}, (std::int64_t{1} << 22) - 1, (std::int64_t{1} << 44) - 1,
        -(std::int64_t{1} << 44), (std::int64_t{1} << 55) - 1, -(std::int64_t{1} << 55)})
    expect_answers<Exec, Threads>(std::vector<std::int64_t>(Threads, one));
}

template <class Exec, int Threads, class T>
void reads_are_joined() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  ts::Random random(3);
  // The extremes of nothing, of one side of zero, of both, and of none that is finite.
  const std::pair<T, T> ranges[] = {{infinity, -infinity}, {T(1e-30), T(3)},  {T(-7), T(-1e-40)},
                                    {T(-1e30), T(1e30)},   {-infinity, T(2)}, {T(0), infinity}};
  for (const auto& [least, greatest] : ranges) {
    std::vector<kd::CellRead<T>> reads;
    kd::CellRead<T> want{infinity, -infinity};
    for (int i = 0; i < Threads; ++i) {
      kd::CellRead<T> read{infinity, -infinity};
      const auto count = [&] { return static_cast<std::uint32_t>(random.below(5000)); };
      if (i % 7 == 0 && least < greatest) {
        read.min = std::max(least, T(-1e29) * T(i));
        read.max = std::min(greatest, T(1e29) * T(i));
        if (read.max < least) read.max = least;
      }
      if (i == Threads / 3) read.min = least;
      if (i == Threads - 1) read.max = greatest;
      read.good = count();
      read.below = count();
      read.inside = count();
      read.lost = random.below(9) == 0 ? 1 : 0;
      read.blank = random.below(9) == 0 ? 1 : 0;
      reads.push_back(read);
      want += read;
    }
    EXPECT_EQ(want.min, least);
    EXPECT_EQ(want.max, greatest);
    expect_sum<Exec, Threads>(reads, want);
  }
}

template <class Exec, int Threads>
void sums_are_joined() {
  ts::Random random(5);
  std::vector<kd::CellSums> sums;
  std::vector<kd::CellCountsBelow> counts;
  std::vector<kd::GridSums> grid_sums;
  kd::CellSums all;
  kd::GridSums all_grid_sums;
  kd::CellCountsBelow all_counts;
  for (int i = 0; i < Threads; ++i) {
    const auto count = [&] { return static_cast<std::uint32_t>(random.below(1U << 18)); };
    sums.push_back({any_integer(random, 50), any_integer(random, 50), count(), count(), count()});
    counts.push_back({count(), count()});
    grid_sums.push_back({any_integer(random, 50), any_integer(random, 50)});
    all_grid_sums += grid_sums.back();
    all += sums.back();
    all_counts += counts.back();
  }
  expect_sum<Exec, Threads>(sums, all);
  expect_sum<Exec, Threads>(counts, all_counts);
  expect_sum<Exec, Threads>(grid_sums, all_grid_sums);
}

template <class Exec, int Threads, class T>
void lists_are_put_in_order() {
  constexpr int room = 512;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  ts::Random random(7);
  const Launcher<Exec> launch;
  for (const int n : {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 128, 129, 255, 256, 257, 400, 512}) {
    for (const int kinds : {1, 5, 1 << 20}) {
      std::vector<T> found;
      for (int i = 0; i < n; ++i)
        found.push_back(static_cast<T>(random.below(kinds)) - static_cast<T>(kinds) / 2);
      if (n > 3) {
        found[0] = infinity;
        found[1] = -infinity;
        found.back() = std::numeric_limits<T>::max();
      }
      const auto input = copy_of<Exec>(found);
      const auto output = copy_of<Exec>(std::vector<T>(found.size(), T(-99)));
      launch("sort", 1, Sort<Exec, Threads, room, T>{{}, input.data(), n, output.data()});
      launch.fence();
      std::sort(found.begin(), found.end());
      EXPECT_EQ(on_host<Exec>(output), found) << n << " of " << kinds << " values, " << Threads;
    }
  }
}

template <class Exec, int Threads, int Each, class T>
void all_pixels_are_put_in_order() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  ts::Random random(11);
  const Launcher<Exec> launch;
  for (const int kinds : {1, 5, 1 << 20}) {
    std::vector<T> found;
    for (int i = 0; i < Each * Threads; ++i)
      found.push_back(static_cast<T>(random.below(kinds)) - static_cast<T>(kinds) / 2);
    // As a cell with blank pixels, and some numbers that a sign could spoil.
    for (int i = 0; i < Threads; ++i)
      found[static_cast<std::size_t>(random.below(Each * Threads))] = infinity;
    found[3] = std::numeric_limits<T>::denorm_min();
    found[4] = -std::numeric_limits<T>::max();
    const auto input = copy_of<Exec>(found);
    const auto output = copy_of<Exec>(std::vector<T>(found.size(), T(-99)));
    launch("sort", 1, SortAll<Exec, Threads, Each, T>{{}, input.data(), output.data()});
    launch.fence();
    std::sort(found.begin(), found.end());
    EXPECT_EQ(on_host<Exec>(output), found) << kinds << " values, " << Threads << " threads";
  }
}

template <class Exec>
class WarpCrew : public ::testing::Test {};
struct TeamName {
  template <class Exec>
  static std::string GetName(int index) {
    if constexpr (requires { Exec::name(); }) {
      return ts::CaseName::GetName<Exec>(index);
    } else {
      return "Emulated";
    }
  }
};
#ifdef KOKKOS_ENABLE_CUDA
using Devices = ::testing::Types<ts::EmulatedTeams, Kokkos::Cuda>;
#else
using Devices = ::testing::Types<ts::EmulatedTeams>;
#endif
TYPED_TEST_SUITE(WarpCrew, Devices, TeamName);

TYPED_TEST(WarpCrew, AddsIntegers) {
  integers_add_up<TypeParam, 32>();
  integers_add_up<TypeParam, 128>();
}
TYPED_TEST(WarpCrew, JoinsWhatReadsOfACellFind) {
  reads_are_joined<TypeParam, 32, float>();
  reads_are_joined<TypeParam, 128, float>();
  reads_are_joined<TypeParam, 32, double>();
  reads_are_joined<TypeParam, 128, double>();
}
TYPED_TEST(WarpCrew, JoinsSumsOfACell) {
  sums_are_joined<TypeParam, 32>();
  sums_are_joined<TypeParam, 128>();
}
TYPED_TEST(WarpCrew, PutsListsInOrder) {
  lists_are_put_in_order<TypeParam, 32, float>();
  lists_are_put_in_order<TypeParam, 128, float>();
  lists_are_put_in_order<TypeParam, 32, double>();
}

TYPED_TEST(WarpCrew, PutsAllPixelsInOrder) {
  all_pixels_are_put_in_order<TypeParam, 32, 32, float>();
  all_pixels_are_put_in_order<TypeParam, 64, 32, float>();
  all_pixels_are_put_in_order<TypeParam, 128, 32, float>();
  all_pixels_are_put_in_order<TypeParam, 256, 32, float>();
  all_pixels_are_put_in_order<TypeParam, 128, 16, double>();
}

// ----------------------------------------------------------------------------- single instructions

struct WrongQuotients {
  const int* divisors;
  int count;
  KOKKOS_FUNCTION void operator()(int a, int& wrong) const {
    for (int i = 0; i < count; ++i)
      wrong += kd::quotient_of_few(a, divisors[i]) == a / divisors[i] ? 0 : 1;
  }
};

struct Extremes {
  const float* values;
  int count;
  float* lesser;
  float* greater;
  KOKKOS_FUNCTION void operator()(int i) const {
    lesser[i] = kd::lesser_or_nan(values[i / count], values[i % count]);
    greater[i] = kd::greater_or_nan(values[i / count], values[i % count]);
  }
};

template <class Exec>
class Instructions : public ::testing::Test {};
TYPED_TEST_SUITE(Instructions, ts::Execs, ts::CaseName);

TYPED_TEST(Instructions, DivideAsIntegersDo) {
  std::vector<int> divisors(300);
  std::iota(divisors.begin(), divisors.end(), 1);
  for (const int b : {4095, 4096, 65534, 65535, 65536, (1 << 24) - 1}) divisors.push_back(b);
  const auto copy = copy_of<TypeParam>(divisors);
  int wrong = -1;
  Kokkos::parallel_reduce("test::quotients",
                          Kokkos::RangePolicy<TypeParam>(TypeParam{}, 0, 1 << 16),
                          WrongQuotients{copy.data(), static_cast<int>(divisors.size())}, wrong);
  EXPECT_EQ(wrong, 0);
}

TYPED_TEST(Instructions, KeepNaNs) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {-infinity, -2, -1e-40F, 0, 1e-40F, 3, infinity, nan, -nan};
  const std::size_t n = values.size();
  const auto copy = copy_of<TypeParam>(values);
  const auto lesser = copy_of<TypeParam>(std::vector<float>(n * n));
  const auto greater = copy_of<TypeParam>(std::vector<float>(n * n));
  const auto count = static_cast<int>(n);
  const TypeParam space;
  Kokkos::parallel_for("test::extremes", Kokkos::RangePolicy<TypeParam>(space, 0, count * count),
                       Extremes{copy.data(), count, lesser.data(), greater.data()});
  space.fence("test::extremes");
  const auto least = on_host<TypeParam>(lesser), most = on_host<TypeParam>(greater);
  for (std::size_t i = 0; i < n * n; ++i) {
    const float a = values[i / n], b = values[i % n];
    if (a == a && b == b) {
      EXPECT_EQ(least[i], std::min(a, b)) << a << ' ' << b;
      EXPECT_EQ(most[i], std::max(a, b)) << a << ' ' << b;
    } else {
      EXPECT_TRUE(std::isnan(least[i])) << a << ' ' << b;
      EXPECT_TRUE(std::isnan(most[i])) << a << ' ' << b;
    }
  }
}

}  // namespace
