// SPDX-License-Identifier: Apache-2.0

// A cell's clip by crews of several threads, as devices run it, and the vector loops of hosts.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <cstring>
#include <kastor/detail/cell_host.hpp>
#include <kastor/detail/estimate_cells.hpp>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "background_naive.hpp"
#include "generators.hpp"
#include "naive.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
using kd::HostLevel;

// ---------------------------------------------------------------------------------------- crews

/// What threads share to act as a device's team.
struct Meeting {
  explicit Meeting(int size) : together(size), slots(static_cast<std::size_t>(size)) {}
  struct alignas(16) Slot {
    std::byte bytes[64];
  };
  std::barrier<> together;
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
  KOKKOS_FUNCTION void barrier() const {
    KOKKOS_IF_ON_HOST((m_meeting.together.arrive_and_wait();))
  }
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
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const Thread thread(meeting, rank);
      if (rows > 0) {
        estimate.cell(thread, 0, list, columns.data(), rows);
      } else {
        estimate.streamed(thread, 0, small_list);
      }
    });
  threads.clear();
  return found;
}

template <class T>
Estimated on_host(const kd::CellImage<T>& image) {
  Estimated found;
  const kd::EstimateCell<T> estimate{image, rules, {&found.value, &found.valid, &found.counts}};
  const std::size_t bytes = kd::HostCellRoom<T>::bytes(image.image.ny * image.image.nx);
  std::vector<double> room(bytes / sizeof(double) + 1);
  const kd::EstimateOnHost<T> host{estimate, 1, reinterpret_cast<std::byte*>(room.data()), bytes};
  host(0);
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

TEST(CellClip, CrewsAndHostsGiveTheSameBitsOfFloat) { crews_agree<float>(); }
TEST(CellClip, CrewsAndHostsGiveTheSameBitsOfDouble) { crews_agree<double>(); }

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
      copies_rows<T>(level, pixels, {pixels.data(), 1, 0, 0, 0}, what);
      copies_rows<T>(level, pixels, {pixels.data(), 1, 5, 5, 0}, what);
      copies_rows<T>(level, pixels, {pixels.data(), 1, size, size, 0}, what);
      copies_rows<T>(level, pixels, {pixels.data() + 3, 12, 51, 64, 10}, what);
      copies_rows<T>(level, pixels, {pixels.data(), 13, 64, 64, 64}, what);

      const kd::HostExtent<T> all =
          kd::extent_on_host(level, -infinity, infinity, finite.data(), size);
      EXPECT_EQ(all.count, static_cast<std::int64_t>(sorted.size())) << what;
      EXPECT_EQ(all.min, sorted.front()) << what;
      EXPECT_EQ(all.max, sorted.back()) << what;
      const kd::HostExtent<T> some = kd::extent_on_host(level, low, high, finite.data(), size);
      const auto inside = std::count_if(sorted.begin(), sorted.end(), between);
      EXPECT_EQ(some.count, inside) << what;

      const T thresholds[3] = {high, low, sorted.front()};
      std::int64_t below[3];
      kd::count_below_on_host(level, thresholds, finite.data(), size, below);
      for (int i = 0; i < 3; ++i)
        EXPECT_EQ(below[i],
                  std::lower_bound(sorted.begin(), sorted.end(), thresholds[i]) - sorted.begin())
            << what;

      kd::HostIntervalSums<T> sums{low, high, static_cast<double>(low), 1.0};
      const std::int64_t odd = size - 3;
      kd::add_interval_on_host(level, finite.data(), odd, sums);
      kd::HostIntervalSums<T> want{low, high, static_cast<double>(low), 1.0};
      for (std::int64_t i = 0; i < odd; ++i) {
        const T x = finite[static_cast<std::size_t>(i)];
        want.count += between(x) ? 1 : 0;
        want.below += x <= low ? 1 : 0;
        const double u = between(x) ? static_cast<double>(x) - static_cast<double>(low) : 0.0;
        want.sum += kd::to_grid_biased(u);
        want.squares += kd::to_grid_biased(u * u);
      }
      EXPECT_EQ(sums.count, want.count) << what;
      EXPECT_EQ(sums.below, want.below) << what;
      EXPECT_EQ(sums.sum, want.sum) << what;
      EXPECT_EQ(sums.squares, want.squares) << what;

      for (const int room : {static_cast<int>(inside), 10}) {
        std::vector<T> taken(static_cast<std::size_t>(room) + 64 + 4);
        const int n =
            kd::take_between_on_host(level, low, high, finite.data(), size, taken.data(), room);
        EXPECT_EQ(n, std::min<std::int64_t>(room, inside)) << what;
        std::vector<T> in_order(static_cast<std::size_t>(n));
        kd::sort_on_host(level, taken.data(), n, in_order.data());
        if (room < inside) continue;
        std::vector<T> expected;
        std::copy_if(sorted.begin(), sorted.end(), std::back_inserter(expected), between);
        EXPECT_EQ(in_order, expected) << what;
      }
    }
  }
}

TEST(CellClip, VectorLoopsMatchNaiveAtEveryLevelOfFloat) { loops_match_naive<float>(); }
TEST(CellClip, VectorLoopsMatchNaiveAtEveryLevelOfDouble) { loops_match_naive<double>(); }

}  // namespace
