// SPDX-License-Identifier: Apache-2.0

// What threads of a group do together, for groups of several sizes. On a CPU they have one thread.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/group.hpp"
#include "map_on.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace core = kastor::core;
using ts::run_groups;

constexpr std::int64_t group_counts[] = {0, 1, 3, 100};

/// How many threads such a group has.
template <class Exec>
constexpr int size_of(int threads) {
  return core::runs_on_host_v<Exec> ? 1 : threads;
}

/// Any value of a thread, of the group it belongs to.
KOKKOS_FUNCTION std::int64_t value_of(std::int64_t group, int rank) {
  return (group * 7919 + rank * 104729) % 1009 - 300;
}

// -------------------------------------------------------------------------- who is who

struct Identity {
  std::int64_t index, count;
  int rank, size;
  bool operator==(const Identity&) const = default;
};

template <class Exec, int threads>
struct TellWho {
  Identity* told;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    told[group.index() * group.size() + group.rank()] = {group.index(), group.count(), group.rank(),
                                                         group.size()};
  }
};

template <class Exec, int threads>
void threads_know_who_they_are() {
  constexpr int size = size_of<Exec>(threads);
  for (const std::int64_t groups : group_counts) {
    const ts::DeviceList<Exec, Identity> told("test::told",
                                              static_cast<std::size_t>(groups * size));
    run_groups<threads, Exec>(groups, 0, TellWho<Exec, threads>{told.data()});
    std::vector<Identity> want;
    for (std::int64_t g = 0; g < groups; ++g)
      for (int r = 0; r < size; ++r) want.push_back({g, groups, r, size});
    EXPECT_TRUE(ts::to_vector(told) == want) << groups << " groups of " << size;
  }
}

// ------------------------------------------------------------- sums, scans, extremes

struct Both {
  std::int64_t sum = 0;
  double halves = 0;
  KOKKOS_FUNCTION Both& operator+=(const Both& other) {
    sum += other.sum;
    halves += other.halves;
    return *this;
  }
};

struct Figures {
  Both sum;
  std::int64_t words[3];
  int before_int;
  std::int64_t before;
  double before_double;
  std::int64_t min, max, first, last;
  double largest;
};

template <class Exec>
struct FindFigures {
  Figures* found;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const std::int64_t mine = value_of(group.index(), group.rank());
    const auto half = 0.5 * static_cast<double>(mine);
    Figures f{};
    f.sum = group.sum(Both{mine, half});
    for (int k = 0; k < 3; ++k) f.words[k] = mine * (k + 1);
    group.sum_words(f.words);
    f.before_int = group.exclusive_scan(static_cast<int>(mine));
    f.before = group.exclusive_scan(mine << 32);
    f.before_double = group.exclusive_scan(half);
    f.min = group.min(mine);
    f.max = group.max(mine);
    f.largest = group.max(half);
    f.first = group.broadcast(mine);
    f.last = group.broadcast(mine, group.size() - 1);
    found[group.index() * group.size() + group.rank()] = f;
  }
};

template <class Exec, int threads>
void figures_are_those_of_all_threads() {
  constexpr int size = size_of<Exec>(threads);
  for (const std::int64_t groups : group_counts) {
    const ts::DeviceList<Exec, Figures> found("test::found",
                                              static_cast<std::size_t>(groups * size));
    run_groups<threads, Exec>(groups, 0, FindFigures<Exec>{found.data()});
    const auto got = ts::to_vector(found);
    for (std::int64_t g = 0; g < groups; ++g) {
      std::vector<std::int64_t> values;
      for (int r = 0; r < size; ++r) values.push_back(value_of(g, r));
      const std::int64_t sum = std::accumulate(values.begin(), values.end(), std::int64_t{0});
      std::int64_t before = 0;
      for (int r = 0; r < size; ++r) {
        const Figures& f = got[static_cast<std::size_t>(g * size + r)];
        EXPECT_EQ(f.sum.sum, sum);
        EXPECT_EQ(f.sum.halves, 0.5 * static_cast<double>(sum));
        for (int k = 0; k < 3; ++k) EXPECT_EQ(f.words[k], sum * (k + 1));
        EXPECT_EQ(f.before_int, before);
        EXPECT_EQ(f.before, before * (std::int64_t{1} << 32));
        EXPECT_EQ(f.before_double, 0.5 * static_cast<double>(before));
        EXPECT_EQ(f.min, *std::min_element(values.begin(), values.end()));
        EXPECT_EQ(f.max, *std::max_element(values.begin(), values.end()));
        EXPECT_EQ(f.largest, 0.5 * static_cast<double>(f.max));
        EXPECT_EQ(f.first, values.front());
        EXPECT_EQ(f.last, values.back());
        before += values[static_cast<std::size_t>(r)];
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

// ---------------------------------------------------------------------------- scratch

/// Each thread writes to the group's memory what another one reads, again and again. Two objects
/// lie beside each other, one of an odd size.
template <class Exec>
struct PassOn {
  static constexpr int rounds = 20;
  std::int64_t* received;
  int* misplaced;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const flags = group.template scratch<char>(group.size() * 3);
    auto* const slots = group.template scratch<std::int64_t>(group.size());
    if (reinterpret_cast<std::uintptr_t>(slots) % 16 != 0) Kokkos::atomic_add(misplaced, 1);
    const int rank = group.rank(), next = (rank + 1) % group.size();
    std::int64_t mine = value_of(group.index(), rank);
    for (int round = 0; round < rounds; ++round) {
      slots[rank] = mine;
      for (int k = 0; k < 3; ++k) flags[3 * rank + k] = static_cast<char>(round);
      group.barrier();
      mine = slots[next] + flags[3 * next + 2];
      group.barrier();
    }
    received[group.index() * group.size() + rank] = mine;
  }
};

template <class Exec, int threads>
void scratch_is_shared_by_the_group() {
  constexpr int size = size_of<Exec>(threads);
  constexpr int rounds = PassOn<Exec>::rounds;
  for (const std::int64_t groups : group_counts) {
    const ts::DeviceList<Exec, std::int64_t> received("test::received",
                                                      static_cast<std::size_t>(groups * size));
    const ts::DeviceList<Exec, int> misplaced("test::misplaced", 1);
    run_groups<threads, Exec>(groups, 11 * size + 32,
                              PassOn<Exec>{received.data(), misplaced.data()});
    const auto got = ts::to_vector(received);
    for (std::int64_t g = 0; g < groups; ++g) {
      for (int r = 0; r < size; ++r) {
        EXPECT_EQ(got[static_cast<std::size_t>(g * size + r)],
                  value_of(g, (r + rounds) % size) + rounds * (rounds - 1) / 2);
      }
    }
    EXPECT_EQ(ts::to_vector(misplaced)[0], 0);
  }
}

/// Threads take places in a list by a counter of the group, a few at a time.
template <class Exec>
struct TakePlaces {
  int* list;
  int* counted;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto* const counter = group.template scratch<int>();
    if (group.rank() == 0) *counter = 0;
    group.barrier();
    const int wanted = group.rank() % 3;
    const int first = group.fetch_add(counter, wanted);
    for (int k = 0; k < wanted; ++k) list[group.index() * group.size() * 2 + first + k] += 1;
    group.barrier();
    if (group.rank() == 0) counted[group.index()] = *counter;
  }
};

template <class Exec, int threads>
void places_are_given_away_once() {
  constexpr int size = size_of<Exec>(threads);
  int all = 0;
  for (int r = 0; r < size; ++r) all += r % 3;
  constexpr std::int64_t groups = 10;
  const ts::DeviceList<Exec, int> list("test::list", groups * size * 2);
  const ts::DeviceList<Exec, int> counted("test::counted", groups);
  run_groups<threads, Exec>(groups, 16, TakePlaces<Exec>{list.data(), counted.data()});
  EXPECT_EQ(ts::to_vector(counted), std::vector<int>(groups, all));
  const auto got = ts::to_vector(list);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], static_cast<int>(i) % (size * 2) < all ? 1 : 0);
}

// --------------------------------------------------------------------- shares of work

/// A row of an odd number of words.
struct Row {
  std::int64_t id;
  double value;
  std::int32_t x, y;
  bool operator==(const Row&) const = default;
};

template <class Exec, int parts>
struct ShareWork {
  int n;
  const Row* rows;
  Row* copied;
  std::int64_t* sum;
  int *visits, *visits_2d, *visits_of_parts, *wrong_sums;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    group.copy(rows, copied, n);
    group.for_each(n, [&](int i) { Kokkos::atomic_add(visits + i, 1); });
    group.for_each_2d(n / 10, 10,
                      [&](int y, int x) { Kokkos::atomic_add(visits_2d + 10 * y + x, 1); });
    group.for_each_of(rows, n, [&](const Row& row) { Kokkos::atomic_add(sum, row.id); });
    group.barrier();
    std::int64_t sums[parts][2];
    group.sum_words_of_parts(sums, [&](int which, const core::SubGroup& part, auto& words) {
      part.for_each_of(rows, n, [&](const Row& row) {
        Kokkos::atomic_add(visits_of_parts + row.id, 1);
        words[0] += row.id << 32;
        words[1] += which;
      });
    });
    for (int which = 0; which < parts; ++which)
      for (int k = 0; k < 2; ++k)
        if (sums[which][k] != (k == 0 ? *sum << 32 : std::int64_t{n} * which))
          Kokkos::atomic_add(wrong_sums, 1);
  }
};

template <class Exec, int threads>
void work_is_shared_by_all_threads() {
  constexpr int parts = threads < 128 ? 1 : 4;  // each of 32 threads or more
  for (const int n : {0, 1, 7, 10, 31, 32, 33, 100, 257, 1000, 5000}) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<Row> rows(size);
    std::int64_t sum = 0;
    for (int i = 0; i < n; ++i) {
      rows[static_cast<std::size_t>(i)] = {i, 0.25 * i, i + 1, i + 2};
      sum += i;
    }
    const auto on_device = ts::to_device_list<Exec>(rows);
    const ts::DeviceList<Exec, Row> copied("test::copied", size);
    const ts::DeviceList<Exec, std::int64_t> total("test::sum", 1);
    const ts::DeviceList<Exec, int> visits("test::visits", size), visits_2d("test::visits", size),
        of_parts("test::visits", size), wrong_sums("test::wrong_sums", 1);
    run_groups<threads, Exec>(
        1, 0,
        ShareWork<Exec, parts>{n, on_device.data(), copied.data(), total.data(), visits.data(),
                               visits_2d.data(), of_parts.data(), wrong_sums.data()});
    EXPECT_TRUE(ts::to_vector(copied) == rows) << n;
    EXPECT_EQ(ts::to_vector(total)[0], sum) << n;
    EXPECT_EQ(ts::to_vector(visits), std::vector<int>(size, 1)) << n;
    std::vector<int> of_whole_rows(size, 1);
    for (std::size_t i = size / 10 * 10; i < size; ++i) of_whole_rows[i] = 0;
    EXPECT_EQ(ts::to_vector(visits_2d), of_whole_rows) << n;
    EXPECT_EQ(ts::to_vector(of_parts), std::vector<int>(size, parts)) << n << ", by each part";
    EXPECT_EQ(ts::to_vector(wrong_sums)[0], 0) << n << ", of each part";
  }
}

template <class Exec>
struct CopyList {
  int n;
  const std::int32_t* from;
  std::int32_t* to;
  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    group.copy_list(from, to, n);
  }
};

template <class Exec, int threads>
void lists_are_copied() {
  for (const int n : {0, 1, 31, 33, 255, 256, 1000, 5000}) {
    std::vector<std::int32_t> list(static_cast<std::size_t>(n));
    std::iota(list.begin(), list.end(), 7);
    const auto from = ts::to_device_list<Exec>(list);
    // One more, which stays as it is.
    const ts::DeviceList<Exec, std::int32_t> to("test::copied", list.size() + 1);
    run_groups<threads, Exec>(1, 0, CopyList<Exec>{n, from.data(), to.data()});
    list.push_back(0);
    EXPECT_EQ(ts::to_vector(to), list) << n;
  }
}

template <class Exec>
class Groups : public ::testing::Test {};
TYPED_TEST_SUITE(Groups, ts::Execs, ts::CaseName);

/// Whatever their scratch memory: of some sizes a processor has no room for sixteen groups at once.
TYPED_TEST(Groups, AreLaunchedWithMuchScratch) {
  using Exec = TypeParam;
  const Exec space;
  for (const int bytes : {0, 1000, 10'000, 20'000, 40'000}) {
    constexpr std::int64_t groups = 5;
    const ts::DeviceList<Exec, Identity> told("test::told",
                                              groups * static_cast<std::size_t>(size_of<Exec>(64)));
    core::for_each_group<64, 16>("test::groups", space, {groups, bytes},
                                 TellWho<Exec, 64>{told.data()});
    for (const Identity& who : ts::to_vector(told)) EXPECT_EQ(who.count, groups) << bytes;
  }
}

#define KASTOR_FOR_EACH_SIZE(check) \
  check<TypeParam, 32>();           \
  check<TypeParam, 64>();           \
  check<TypeParam, 128>();          \
  check<TypeParam, 512>()

TYPED_TEST(Groups, KnowTheirThreads) { KASTOR_FOR_EACH_SIZE(threads_know_who_they_are); }
TYPED_TEST(Groups, SumScanAndCompare) { KASTOR_FOR_EACH_SIZE(figures_are_those_of_all_threads); }
TYPED_TEST(Groups, ShareTheirScratch) { KASTOR_FOR_EACH_SIZE(scratch_is_shared_by_the_group); }
TYPED_TEST(Groups, GivePlacesAwayOnce) { KASTOR_FOR_EACH_SIZE(places_are_given_away_once); }
TYPED_TEST(Groups, ShareTheirWork) { KASTOR_FOR_EACH_SIZE(work_is_shared_by_all_threads); }
TYPED_TEST(Groups, CopyLists) { KASTOR_FOR_EACH_SIZE(lists_are_copied); }

}  // namespace
