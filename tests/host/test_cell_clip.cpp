// SPDX-License-Identifier: Apache-2.0

// A cell's clip by crews of several threads, as devices run it, and the vector loops of hosts.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/estimate_cells.hpp>
#include <kastor/detail/work_shares.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "background_naive.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "team_threads.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using kd::HostLevel;

// ---------------------------------------------------------------------------------------- crews

/// What threads share to act as a device's team.
struct Meeting {
  explicit Meeting(int size)
      : threads(ts::make_team_threads(size)), slots(static_cast<std::size_t>(size)) {}
  struct alignas(16) Slot {
    std::byte bytes[64];
  };
  std::unique_ptr<ts::TeamThreads> threads;
  std::vector<Slot> slots;
};

class Thread {
 public:
  Thread(Meeting& meeting, int rank) : m_meeting(meeting), m_rank(rank) {}
  [[nodiscard]] KOKKOS_FUNCTION int rank() const { return m_rank; }
  [[nodiscard]] KOKKOS_FUNCTION int size() const {
    int n = 0;
    KOKKOS_IF_ON_HOST((n = static_cast<int>(m_meeting.slots.size());))
    return n;
  }
  KOKKOS_FUNCTION void barrier() const { KOKKOS_IF_ON_HOST((m_meeting.threads->wait();)) }
  [[nodiscard]] KOKKOS_FUNCTION int sum_before(int value, int& all) const {
    int before = 0;
    KOKKOS_IF_ON_HOST((before = counted_before(value, all);))
    return before;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V sum(V value) const {
    KOKKOS_IF_ON_HOST((value = joined(value, [](V& into, const V& from) { into += from; });))
    return value;
  }
  template <class V>
  [[nodiscard]] KOKKOS_FUNCTION V smallest(V value) const {
    KOKKOS_IF_ON_HOST(
        (value = joined(value, [](V& into, const V& from) { into = std::min(into, from); });))
    return value;
  }

 private:
  [[nodiscard]] int counted_before(int value, int& all) const {
    std::array<std::int16_t, 32> of{};
    of.at(static_cast<std::size_t>(m_rank)) = static_cast<std::int16_t>(value);
    of = joined(of, [](auto& into, const auto& from) {
      for (std::size_t i = 0; i < into.size(); ++i)
        into[i] = static_cast<std::int16_t>(into[i] + from[i]);
    });
    all = std::accumulate(of.begin(), of.end(), 0);
    return std::accumulate(of.begin(), of.begin() + m_rank, 0);
  }

  template <class V, class Join>
  [[nodiscard]] V joined(const V& value, const Join& join) const {
    static_assert(sizeof(V) <= sizeof(Meeting::Slot) && std::is_trivially_copyable_v<V>);
    std::memcpy(m_meeting.slots[static_cast<std::size_t>(m_rank)].bytes, &value, sizeof(V));
    barrier();
    V all;
    std::memcpy(&all, m_meeting.slots.back().bytes, sizeof(V));
    for (std::size_t i = 0; i + 1 < m_meeting.slots.size(); ++i) {
      V other;
      std::memcpy(&other, m_meeting.slots[i].bytes, sizeof(V));
      join(all, other);
    }
    barrier();
    return all;
  }

  Meeting& m_meeting;
  int m_rank;
};

template <class T>
kd::CellImage<T> one_cell(const ts::HostImage<T>& host) {
  kd::CellImage<T> image;
  image.rows.one = {host.values.data(), host.nx, 0};
  image.image = image.cell = {host.ny, host.nx};
  image.mesh = {1, 1};
  return image;
}

struct Estimated {
  kd::CellValue value{-1, -1};
  std::uint8_t valid = 2;
  kd::CellCounts counts{0, 0};
};

constexpr kd::CellRules rules{3.0, 0, kastor::BackgroundEstimate::mode, 0.25};

/// `rows`: of a thread's column; 0: a cell of any size.
template <class T>
Estimated by_crew(const kd::CellImage<T>& image, int size, int rows) {
  Estimated found;
  const kd::EstimateCell<T> estimate{image, rules, {&found.value, &found.valid, &found.counts}};
  typename kd::DeviceCell<Thread, T>::List list;
  kd::SmallList<T> small_list;
  std::vector<T> columns(static_cast<std::size_t>(size * rows));
  Meeting meeting(size);
  meeting.threads->run([&](int rank) {
    const Thread thread(meeting, rank);
    if (rows > 0) {
      estimate.cell(thread, 0, list, columns.data(), rows, static_cast<T*>(nullptr));
    } else {
      estimate.streamed(thread, 0, small_list);
    }
  });
  return found;
}

template <class T>
Estimated on_host(const kd::CellImage<T>& image) {
  Estimated found;
  const kd::EstimateCell<T> estimate{image, rules, {&found.value, &found.valid, &found.counts}};
  const std::size_t bytes = kd::HostCellRoom<T>::bytes(image.image.ny * image.image.nx);
  std::vector<double> room(bytes / sizeof(double) + 1);
  const kd::EstimateOnHost<T> host{estimate, reinterpret_cast<std::byte*>(room.data()), bytes};
  host.worker(0)(0);
  return found;
}

void expect_same(const Estimated& a, const Estimated& b, const std::string& what) {
  EXPECT_EQ(a.valid, b.valid) << what;
  EXPECT_EQ(a.counts.good, b.counts.good) << what;
  if (a.valid != 1) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.value.level),
            std::bit_cast<std::uint64_t>(b.value.level))
      << what << ": " << a.value.level << " and " << b.value.level;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.value.rms), std::bit_cast<std::uint64_t>(b.value.rms))
      << what << ": " << a.value.rms << " and " << b.value.rms;
}

template <class T>
void crews_agree() {
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{16, 4}, {13, 37}, {24, 32}};
  const ts::Pixels kinds[] = {
      ts::Pixels::contaminated, ts::Pixels::constant, ts::Pixels::narrow_integers,
      ts::Pixels::half_blank,   ts::Pixels::wild,     ts::Pixels::signed_zeros,
      ts::Pixels::huge};
  for (const ts::Pixels kind : kinds) {
    for (const auto& [ny, nx] : shapes) {
      const auto host = ts::make_image<T>(kind, ny, nx, 17);
      const auto image = one_cell(host);
      const std::string what = std::string(ts::name_of(kind)) + ' ' + ts::shape_name(ny, nx);
      const Estimated want = on_host(image);
      // Columns that hold all that is set aside, some of it, next to nothing.
      for (const int rows : {64, 20, kd::DeviceCell<Thread, T>::least_rows, 0})
        expect_same(by_crew(image, 4, rows), want, what + ", rows " + std::to_string(rows));
    }
  }
}

/// Sources on so many pixels that medians leave the window, and limits cut into the core.
template <class T>
void crowds_agree() {
  ts::Random random(29);
  for (const double share : {0.05, 0.15, 0.3, 0.45, 0.6}) {
    for (const double faintest : {0.5, 3.0, 40.0}) {
      for (const std::int64_t nx : {32, 37}) {
        auto host = ts::make_image<T>(ts::Pixels::gaussian, 24, nx, 5);
        for (T& x : host.values) {
          if (random.uniform() < share)
            x += static_cast<T>(faintest / std::pow(random.uniform(), 1.5));
        }
        const auto image = one_cell(host);
        const Estimated want = on_host(image);
        // Columns that hold the cell, lists of it, and next to nothing.
        for (const int rows : {240, 100, 20})
          expect_same(by_crew(image, 4, rows), want,
                      std::to_string(share) + " from " + std::to_string(faintest) + ", rows " +
                          std::to_string(rows) + ", nx " + std::to_string(nx));
      }
    }
  }
}
TEST(CellClip, CrowdsAreTheSameOfFloat) { crowds_agree<float>(); }
TEST(CellClip, CrowdsAreTheSameOfDouble) { crowds_agree<double>(); }

TEST(CellClip, CrewsAndHostsGiveTheSameBitsOfFloat) { crews_agree<float>(); }
TEST(CellClip, CrewsAndHostsGiveTheSameBitsOfDouble) { crews_agree<double>(); }

// ------------------------------------------------------------------------------ cell after cell

/// Cells in a row, each of another kind, level and scatter.
template <class T>
ts::HostImage<T> unlike_cells(std::int64_t side) {
  const ts::Pixels kinds[] = {
      ts::Pixels::contaminated, ts::Pixels::contaminated,    ts::Pixels::constant,
      ts::Pixels::contaminated, ts::Pixels::narrow_integers, ts::Pixels::contaminated,
      ts::Pixels::one_finite,   ts::Pixels::contaminated,    ts::Pixels::half_blank,
      ts::Pixels::wild,         ts::Pixels::contaminated,    ts::Pixels::huge,
      ts::Pixels::contaminated, ts::Pixels::contaminated};
  const auto cells = static_cast<std::int64_t>(std::size(kinds));
  ts::HostImage<T> all(side, 2 * cells * side);
  for (std::int64_t i = 0; i < 2 * cells; ++i) {
    const auto one = ts::make_image<T>(kinds[i % cells], side, side, static_cast<std::uint64_t>(i));
    // Half of them as they are, half with levels that drift, and jump every now and then.
    const T level =
        i < cells ? T(0)
                  : static_cast<T>(0.1 * static_cast<double>(i) + static_cast<double>(i % 5 / 4));
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x)
        all.values[static_cast<std::size_t>(y * all.nx + i * side + x)] =
            one.values[static_cast<std::size_t>(y * side + x)] + level;
  }
  return all;
}

template <class T>
void each_cell_stands_for_itself(std::int64_t side) {
  const auto host = unlike_cells<T>(side);
  const std::int64_t cells = host.nx / side;
  const std::size_t bytes = kd::HostCellRoom<T>::bytes(side * side);
  std::vector<double> room(bytes / sizeof(double) + 1);
  auto* const memory = reinterpret_cast<std::byte*>(room.data());
  kd::CellImage<T> image;
  image.rows.one = {host.values.data(), host.nx, 0};
  image.image = {side, host.nx};
  image.cell = {side, side};
  image.mesh = {1, cells};
  std::vector<kd::CellValue> values(static_cast<std::size_t>(cells));
  std::vector<std::uint8_t> valid(values.size());
  kd::CellCounts counts{0, 0};
  const kd::EstimateOnHost<T> host_cells{
      {image, rules, {values.data(), valid.data(), &counts}}, memory, bytes};
  kd::for_each_index_of_workers("test::estimate_cells", Kokkos::Serial{}, cells, host_cells);
  for (std::int64_t i = 0; i < cells; ++i) {
    kd::CellImage<T> one = image;
    one.rows.one.data += i * side;
    one.image = {side, side};
    one.mesh = {1, 1};
    Estimated alone, among;
    const kd::EstimateOnHost<T> cell{
        {one, rules, {&alone.value, &alone.valid, &alone.counts}}, memory, bytes};
    cell.worker(0)(0);
    among.value = values[static_cast<std::size_t>(i)];
    among.valid = valid[static_cast<std::size_t>(i)];
    among.counts.good = alone.counts.good;
    expect_same(among, alone, "cell " + std::to_string(i) + " of side " + std::to_string(side));
    expect_same(by_crew(one, 1, 0), alone, "streamed " + std::to_string(i));
  }
}

TEST(CellClip, TheCellBeforeChangesNothingOfFloat) {
  for (const std::int64_t side : {64, 33, 7}) each_cell_stands_for_itself<float>(side);
}
TEST(CellClip, TheCellBeforeChangesNothingOfDouble) {
  for (const std::int64_t side : {64, 33, 7}) each_cell_stands_for_itself<double>(side);
}

// --------------------------------------------------------------------------------- vector loops

std::vector<HostLevel> levels() {
  std::vector<HostLevel> all{HostLevel::baseline, HostLevel::avx2, HostLevel::avx512};
  std::erase_if(all, [](HostLevel l) { return l > kd::best_host_level(); });
  return all;
}

/// The finite pixels of rows one after the other, NaN for the others, and what they are together.
template <class T>
void copies_rows(HostLevel level, const std::vector<T>& pixels, const kd::HostRows<T>& rows,
                 const std::string& what) {
  const auto n = static_cast<std::size_t>(rows.ny * rows.nx);
  std::vector<T> copy(n + 1, T(7));
  const kd::HostExtent<T> got = kd::copy_finite_on_host(level, rows, copy.data());
  kd::HostExtent<T> expected{0, std::numeric_limits<T>::infinity(),
                             -std::numeric_limits<T>::infinity()};
  const auto first = static_cast<std::size_t>(rows.data - pixels.data());
  std::size_t k = 0;
  for (std::int64_t y = 0; y < rows.ny; ++y) {
    for (std::int64_t x = 0; x < rows.nx; ++x, ++k) {
      const T pixel = pixels[first + static_cast<std::size_t>(y * rows.pitch + x)];
      if (!std::isfinite(pixel)) {
        EXPECT_TRUE(copy[k] != copy[k]) << what;
        continue;
      }
      EXPECT_EQ(copy[k], pixel) << what;
      ++expected.count;
      expected.min = std::min(expected.min, pixel);
      expected.max = std::max(expected.max, pixel);
    }
  }
  EXPECT_EQ(copy[n], T(7)) << what;
  EXPECT_EQ(got.count, expected.count) << what;
  EXPECT_EQ(got.min, expected.min) << what;
  EXPECT_EQ(got.max, expected.max) << what;
}

/// Rows as they are, and what they are like.
template <class T>
void copies_rows_as_they_are(HostLevel level, const std::vector<T>& pixels,
                             const kd::HostRows<T>& rows, const std::string& what) {
  const auto n = static_cast<std::size_t>(rows.ny * rows.nx);
  std::vector<T> copy(n + 1, T(7)), want(n + 1, T(7));
  const T low = T(-0.5), high = T(1.5);
  kd::HostCopied<T> got{low, high};
  kd::copy_rows_on_host(level, rows, copy.data(), got);
  double clamped = 0, size = 0;
  bool all_finite = true;
  kd::HostCopied<T> expected{low, high};
  const auto first = static_cast<std::size_t>(rows.data - pixels.data());
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t y = k / static_cast<std::size_t>(rows.nx);
    const std::size_t x = k % static_cast<std::size_t>(rows.nx);
    const T pixel = pixels[first + y * static_cast<std::size_t>(rows.pitch) + x];
    want[k] = pixel;
    all_finite = all_finite && std::isfinite(pixel);
    if (pixel < expected.min) expected.min = pixel;
    if (pixel > expected.max) expected.max = pixel;
    clamped += static_cast<double>(std::clamp(pixel, low, high));
    size += std::abs(static_cast<double>(pixel));
  }
  for (std::size_t k = 0; k <= n; ++k)
    EXPECT_TRUE(copy[k] == want[k] || (copy[k] != copy[k] && want[k] != want[k])) << what;
  const bool may_overflow = size > static_cast<double>(std::numeric_limits<T>::max()) / 4;
  if (!all_finite || !may_overflow) {
    EXPECT_EQ(std::isfinite(got.sum), all_finite) << what;
  }
  if (!all_finite) return;
  EXPECT_EQ(got.min, expected.min) << what;
  EXPECT_EQ(got.max, expected.max) << what;
  EXPECT_NEAR(static_cast<double>(got.clamped), clamped, 1e-5 * static_cast<double>(n)) << what;
}

template <class T>
std::vector<T> in_order(const T* pixels, std::int64_t n) {
  std::vector<T> list(pixels, pixels + n);
  std::sort(list.begin(), list.end());
  return list;
}

/// `pixels`: NaN where they are not good.
template <class T>
void splits(HostLevel level, const std::vector<T>& pixels, T centre, T near,
            const std::string& what) {
  const auto size = static_cast<std::int64_t>(pixels.size());
  constexpr T sentinel = T(-12345);
  std::vector<T> tails(pixels.size() + 65, sentinel), window = tails;
  kd::HostCellLists<T> lists{tails.data(), window.data()};
  const kd::HostSplit<T> at{centre, near, 2 * near};
  kd::split_on_host(level, at, pixels.data(), size, lists);
  std::vector<T> want_tails, want_window;
  std::int64_t below = 0;
  for (const T x : pixels) {
    const T off = x - centre;
    if (std::abs(off) > at.far) want_tails.push_back(x);
    if (std::abs(off) <= near) want_window.push_back(x);
    below += off < -near ? 1 : 0;
  }
  EXPECT_EQ(in_order(tails.data(), lists.in_tails),
            in_order(want_tails.data(), static_cast<std::int64_t>(want_tails.size())))
      << what;
  EXPECT_EQ(in_order(window.data(), lists.in_window),
            in_order(want_window.data(), static_cast<std::int64_t>(want_window.size())))
      << what;
  EXPECT_EQ(lists.below_window, below) << what;
  EXPECT_EQ(tails.back(), sentinel) << what;
  EXPECT_EQ(window.back(), sentinel) << what;
}

template <class T>
void adds_up(HostLevel level, const std::vector<T>& pixels, const kd::Interval<T>& to,
             const std::string& what) {
  const auto size = static_cast<std::int64_t>(pixels.size());
  const auto centre = static_cast<double>(to.low);
  const auto add = [&](auto& sums, T x, bool is_in) {
    const double u = is_in ? static_cast<double>(x) - centre : 0.0;
    sums.count += is_in ? 1 : 0;
    sums.sum += kd::to_grid_biased(u);
    sums.squares += kd::to_grid_biased(u * u);
  };
  const auto expect_sums = [&](const auto& got, const auto& want, const char* which) {
    EXPECT_EQ(got.count, want.count) << what << which;
    EXPECT_EQ(got.below, want.below) << what << which;
    EXPECT_EQ(got.sum, want.sum) << what << which;
    EXPECT_EQ(got.squares, want.squares) << what << which;
  };
  kd::HostIntervalSums<T> sums{to.low, to.high, centre, 1.0}, want = sums;
  kd::add_interval_on_host(level, pixels.data(), size, sums);
  for (const T x : pixels) {
    add(want, x, to.contains(x));
    want.below += x <= to.low ? 1 : 0;
  }
  expect_sums(sums, want, " interval");

  const kd::Interval<T> from{to.low - (to.high - to.low) / 8, to.high + (to.high - to.low) / 8};
  kd::HostLeaving<T> leaving{from.low, to.low, to.high, from.high, centre, 1.0}, left = leaving;
  kd::add_leaving_on_host(level, pixels.data(), size, leaving);
  for (const T x : pixels) {
    if (!from.contains(x) || to.contains(x)) continue;
    add(left, x, true);
    left.below += x <= to.low ? 1 : 0;
  }
  expect_sums(leaving, left, " leaving");

  std::vector<T> good = pixels;
  for (T& x : good)
    if (!to.contains(x)) x = to.high;
  kd::HostIntervalSums<T> all{0, 0, centre, 1.0}, want_all = all;
  kd::add_all_on_host(level, good.data(), size, all);
  for (const T x : good) add(want_all, x, true);
  expect_sums(all, want_all, " all");
}

/// `sorted`: those of the pixels that are good.
template <class T>
void takes(HostLevel level, const std::vector<T>& pixels, const std::vector<T>& sorted, T low,
           T high, const std::string& what) {
  const auto size = static_cast<std::int64_t>(pixels.size());
  const auto below = [&](T bound) {
    return std::lower_bound(sorted.begin(), sorted.end(), bound) - sorted.begin();
  };
  const T middle = sorted[sorted.size() / 3];
  const auto between = static_cast<int>(below(high) - below(low));
  for (const int room : {between, 10}) {
    std::vector<T> taken(static_cast<std::size_t>(room) + 65, T(-12345));
    kd::HostTaking<T> taking{low, middle, high};
    kd::take_on_host(level, pixels.data(), size, taking, taken.data(), room);
    EXPECT_EQ(taking.below, below(low)) << what;
    EXPECT_EQ(taking.below_middle, below(middle)) << what;
    EXPECT_EQ(taking.count, between) << what;
    EXPECT_EQ(taken.back(), T(-12345)) << what;
    if (room < between) continue;
    std::vector<T> ordered(static_cast<std::size_t>(between));
    kd::sort_on_host(level, taken.data(), between, ordered.data());
    EXPECT_EQ(ordered, std::vector<T>(sorted.begin() + below(low), sorted.begin() + below(high)))
        << what;
  }
}

template <class T>
void loops_match_naive() {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (const ts::Pixels kind : ts::all_pixel_kinds) {
    auto pixels = ts::make_image<T>(kind, 1, 64 * 13, 5).values;
    std::vector<T> finite = pixels;
    for (T& x : finite)
      if (!std::isfinite(x)) x = std::numeric_limits<T>::quiet_NaN();
    std::vector<T> sorted;
    std::copy_if(finite.begin(), finite.end(), std::back_inserter(sorted),
                 [](T x) { return x == x; });
    std::sort(sorted.begin(), sorted.end());
    const auto size = static_cast<std::int64_t>(pixels.size());
    const T low = sorted[sorted.size() / 5], high = sorted[sorted.size() / 2];
    const auto between = [&](T x) { return x > low && x < high; };
    for (const HostLevel level : levels()) {
      const std::string what =
          std::string(ts::name_of(kind)) + " level " + std::to_string(static_cast<int>(level));
      for (const kd::HostRows<T>& rows : {kd::HostRows<T>{pixels.data(), 1, 0, 0, 0},
                                          {pixels.data(), 1, 5, 5, 0},
                                          {pixels.data(), 1, size, size, 0},
                                          {pixels.data() + 3, 12, 51, 64, 10},
                                          {pixels.data(), 13, 64, 64, 64}}) {
        copies_rows<T>(level, pixels, rows, what);
        copies_rows_as_they_are<T>(level, pixels, rows, what);
      }

      const kd::HostExtent<T> all =
          kd::extent_on_host(level, -infinity, infinity, finite.data(), size);
      EXPECT_EQ(all.count, static_cast<std::int64_t>(sorted.size())) << what;
      EXPECT_EQ(all.min, sorted.front()) << what;
      EXPECT_EQ(all.max, sorted.back()) << what;
      const kd::HostExtent<T> some = kd::extent_on_host(level, low, high, finite.data(), size);
      EXPECT_EQ(some.count, std::count_if(sorted.begin(), sorted.end(), between)) << what;

      for (const T near : {T(0), T(high - low), T(-1)}) splits<T>(level, finite, high, near, what);
      adds_up<T>(level, finite, {low, high}, what);
      takes<T>(level, finite, sorted, low, high, what);
    }
  }
}

TEST(CellClip, VectorLoopsMatchNaiveAtEveryLevelOfFloat) { loops_match_naive<float>(); }
TEST(CellClip, VectorLoopsMatchNaiveAtEveryLevelOfDouble) { loops_match_naive<double>(); }

}  // namespace
