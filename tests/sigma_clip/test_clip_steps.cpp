// SPDX-License-Identifier: Apache-2.0

// The kernels of the clip one by one, against plain loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/image.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/plan_memory.hpp"
#include "device.hpp"
#include "generators.hpp"
#include "sigma_clip/read.hpp"
#include "sigma_clip/sample.hpp"
#include "sigma_clip/sort.hpp"
#include "sigma_clip/tails.hpp"
#include "sigma_clip/window.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;
namespace core = kastor::core;

template <class Exec, class V>
using List = Kokkos::View<V*, typename Exec::memory_space>;

template <class Exec, class V>
[[nodiscard]] std::vector<V> on_host(const List<Exec, V>& list) {
  std::vector<V> values(list.extent(0));
  Kokkos::deep_copy(Kokkos::View<V*, Kokkos::HostSpace>(values.data(), values.size()), list);
  return values;
}

template <class T>
[[nodiscard]] kd::SampledRows<T> rows_of_image(const T* data, std::int64_t ny, std::int64_t nx,
                                               std::int64_t pitch) {
  return {{data, ny, nx, pitch}, 0};
}

/// Pixels with NaN, infinities, ties and both zeros.
template <class T>
[[nodiscard]] ts::HostImage<T> mixed_pixels(std::int64_t ny, std::int64_t nx, std::uint64_t seed) {
  ts::Random random(seed);
  ts::HostImage<T> image(ny, nx);
  for (T& x : image.values) {
    const auto kind = random.below(20);
    x = static_cast<T>(random.gaussian());
    if (kind == 0) x = std::numeric_limits<T>::quiet_NaN();
    if (kind == 1) x = std::numeric_limits<T>::infinity();
    if (kind == 2) x = -std::numeric_limits<T>::infinity();
    if (kind == 3) x = T{0};
    if (kind == 4) x = -T{0};
    if (kind == 5) x = T{0.25};
    if (kind == 6) x = static_cast<T>(std::exp(20 * random.uniform()));
  }
  return image;
}

template <class C>
void rough_scale_is_that_of_sorted_pixels() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  for (const std::int64_t n : {256, 200, 16, 1}) {
    for (const bool of_peaks : {false, true}) {
      const auto host = mixed_pixels<T>(1, n, static_cast<std::uint64_t>(n));
      const auto image = ts::to_device<Exec>(host);
      const List<Exec, T> values("test::values", kd::rough_size);
      const List<Exec, kd::RoughScale<T>> rough("test::rough", 1);
      using Find = kd::FindRoughScale<Exec, T>;
      kd::Stride stride;
      stride.count = n;
      core::for_each_group<Find::threads>("test::rough_scale", space, {1, Find::scratch_bytes},
                                          Find{rows_of_image<T>(image.data(), 1, n, n), stride,
                                               true, of_peaks, values.data(), rough.data()});
      space.fence("test::rough_scale");
      std::vector<T> sorted;
      for (const T x : host.values)
        if (std::isfinite(x)) sorted.push_back(x);
      std::sort(sorted.begin(), sorted.end());
      const auto want =
          kd::describe_sorted(sorted.data(), static_cast<int>(sorted.size()), of_peaks, true);
      const auto got = on_host<Exec>(rough).front();
      EXPECT_EQ(got.finite, want.finite);
      EXPECT_EQ(got.centre, want.centre);
      EXPECT_EQ(got.scale, want.scale);
      ASSERT_EQ(got.repeated, want.repeated) << n;
      for (int i = 0; i < got.repeated; ++i) EXPECT_EQ(got.value_of[i], want.value_of[i]);
      if (n == 256) {
        EXPECT_GT(got.repeated, 0) << "ties are in the image";
      }
    }
  }
}

template <class C>
void sample_is_counted() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec space;
  const auto host = mixed_pixels<T>(101, 333, 7);
  const auto image = ts::to_device_cut_out<Exec>(host);
  const auto rows = kd::rows_of<T, Exec>(image.image);
  kd::RoughScale<T> rough{};
  rough.centre = 0.1;
  rough.scale = 0.7;
  const List<Exec, kd::RoughScale<T>> rough_there("test::rough", 1);
  Kokkos::deep_copy(rough_there, rough);
  const List<Exec, std::uint32_t> histogram("test::histogram", kd::SampleBins::count);
  const kd::Stride stride(host.ny * host.nx, 10000);
  using Count = kd::CountSample<Exec, T>;
  core::for_each_group<Count::threads>(
      "test::sample", space, {3, Count::scratch_bytes},
      Count{{rows, 0}, stride, rough_there.data(), histogram.data()});
  space.fence("test::sample");
  std::vector<std::uint32_t> want(kd::SampleBins::count);
  for (std::int64_t i = 0; i < host.ny * host.nx; i += stride.stride) {
    const T x = host.values[static_cast<std::size_t>(i)];
    if (std::isfinite(x))
      ++want[static_cast<std::size_t>(
          kd::SampleBins::of(rough.bins().units_of(static_cast<double>(x))))];
  }
  EXPECT_EQ(on_host<Exec>(histogram), want);
}

/// An image read between some brackets, and what is gathered in bins.
template <class Exec, class T>
struct ReadAndSorted {
  static constexpr std::int64_t segments = 7;
  Exec space;
  kd::Brackets<T> brackets{};
  List<Exec, kd::Brackets<T>> brackets_there{"test::brackets", 1};
  List<Exec, kd::InsideTotals> totals{"test::totals", 1};
  List<Exec, T> gathered{"test::gathered", 0}, pixels{"test::pixels", 0};
  List<Exec, std::uint32_t> counts{"test::counts", kd::Segment<T>::lists* segments};
  List<Exec, std::uint64_t> mask{"test::mask", 0};
  List<Exec, std::uint32_t> bin_count{"test::bin_count", kd::GatheredBins<T>::count};
  List<Exec, std::uint32_t> bin_begin{"test::bin_begin", kd::GatheredBins<T>::count + 1};
  List<Exec, kd::TailSums> tail{"test::tail", kd::GatheredBins<T>::tails};
  List<Exec, kd::TailSums> block{"test::block", 2 * kd::TailOctaves::blocks};
  List<Exec, kd::TailSums> octave{"test::octave", 2 * kd::TailOctaves::count};
  std::int64_t capacity = 0;

  ReadAndSorted() {
    brackets.low_edge = T(-1.5);
    brackets.window_low = T(-0.125);
    brackets.window_high = T(0.25);
    brackets.high_edge = T(1.75);
    brackets.centre = T(0.0625);
    brackets.grid = core::Grid(0.0625, -1.5, 1.75);
    brackets.usable = 1;
    brackets.candidate = T(3);
  }
  [[nodiscard]] kd::SortedBins<T> sorted() const {
    return {pixels.data(), bin_count.data(), bin_begin.data(),
            tail.data(),   block.data(),     octave.data()};
  }
  [[nodiscard]] kd::Segments<T> lists() const {
    return {gathered.data(), capacity, counts.data(), segments};
  }
  void run(const kastor::ConstImage<T, Exec>& image) {
    const auto rows = kd::rows_of<T, Exec>(image);
    capacity = rows.ny * rows.nx;
    gathered = decltype(gathered)("test::gathered", static_cast<std::size_t>(segments * capacity));
    pixels = decltype(pixels)("test::pixels", static_cast<std::size_t>(capacity));
    const core::WordRows<T> words(rows);
    mask = decltype(mask)("test::mask", static_cast<std::size_t>(words.words()));
    Kokkos::deep_copy(brackets_there, brackets);
    using Read = kd::ReadImage<Exec, T>;
    core::for_each_group<Read::threads>(
        "test::read", space, {segments, Read::scratch_bytes},
        Read{words, brackets_there.data(), lists(), totals.data(), mask.data()});
    kd::sort_gathered<Exec, T>(space, brackets_there.data(), lists(), sorted());
    space.fence("test::sort");
  }
};

template <class T>
[[nodiscard]] bool is_kept(const kd::Brackets<T>& b, T x) {
  return std::isfinite(x) && (!b.inside(x) || b.in_window(x));
}

template <class C>
void the_read_sums_gathers_and_marks() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const auto host = mixed_pixels<T>(67, 1029, 3);
  const auto image = ts::to_device_cut_out<Exec>(host);
  for (const bool counts_repeated : {false, true}) {
    ReadAndSorted<Exec, T> steps;
    if (counts_repeated) {
      steps.brackets.repeated = 2;
      steps.brackets.value_of[0] = T{0};
      steps.brackets.value_of[1] = T{0.25};
    }
    steps.run(image.image);
    const kd::Brackets<T>& b = steps.brackets;
    std::int64_t inside = 0, below = 0, repeated[2] = {};
    core::Int128 sum, squares;
    std::multimap<int, T> in_bin;
    const kd::GatheredBins<T> bins(b);
    std::vector<std::uint64_t> marked(on_host<Exec>(steps.mask).size());
    for (std::int64_t y = 0; y < host.ny; ++y) {
      for (std::int64_t x = 0; x < host.nx; ++x) {
        const T v = host(y, x);
        if (b.inside(v)) {
          const double u = (static_cast<double>(v) - b.grid.centre) * b.grid.scale;
          ++inside;
          below += v < b.window_low ? 1 : 0;
          sum.add(static_cast<std::int64_t>(std::nearbyint(std::ldexp(u, core::grid_bits))));
          squares.add(
              static_cast<std::int64_t>(std::nearbyint(std::ldexp(u * u, core::grid_bits))));
        }
        if (std::isfinite(v) && v > b.candidate)
          marked[static_cast<std::size_t>(y * ((host.nx + 63) / 64) + x / 64)] |= std::uint64_t{1}
                                                                                  << (x % 64);
        const int which = v == T{0} ? 0 : (v == T{0.25} ? 1 : 2);
        if (counts_repeated && which < 2) {
          ++repeated[which];
        } else if (is_kept(b, v)) {
          in_bin.emplace(bins(v), v);
        }
      }
    }
    const auto got = on_host<Exec>(steps.totals).front().sums();
    EXPECT_EQ(got.inside, inside);
    EXPECT_EQ(got.below, below);
    EXPECT_EQ(got.sum.to_double(), sum.to_double());
    EXPECT_EQ(got.squares.to_double(), squares.to_double());
    EXPECT_EQ(got.repeated[0], repeated[0]);
    EXPECT_EQ(got.repeated[1], repeated[1]);
    EXPECT_EQ(on_host<Exec>(steps.mask), marked);
    const auto begin = on_host<Exec>(steps.bin_begin);
    const auto pixels = on_host<Exec>(steps.pixels);
    ASSERT_EQ(begin.back(), in_bin.size());
    for (int bin = 0; bin < kd::GatheredBins<T>::count; ++bin) {
      const auto at = static_cast<std::size_t>(bin);
      std::vector<T> have(pixels.begin() + begin[at], pixels.begin() + begin[at + 1]), want;
      const auto [first, past] = in_bin.equal_range(bin);
      for (auto i = first; i != past; ++i) want.push_back(i->second);
      std::sort(have.begin(), have.end());
      std::sort(want.begin(), want.end());
      ASSERT_EQ(have, want) << bin;
    }
  }
}

/// What the group answers about the gathered pixels.
template <class Exec, class T>
struct AskTailsAndWindow {
  static constexpr int threads = 256;
  struct Space {
    kd::TailsSpace tails;
    kd::WindowSpace<T> window;
  };
  const kd::Brackets<T>* brackets;
  kd::SortedBins<T> sorted;
  core::Interval<T> interval;
  kd::TailPart* parts;   ///< (2)
  T* outermost;          ///< (2)
  T* by_rank;            ///< of all pixels of the window
  std::int64_t* counts;  ///< pixels of the window; those below 0.25; whether all fit

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    auto& space = *group.template scratch<Space>();
    const kd::GatheredBins<T> bins(*brackets);
    const kd::Tails<Exec, T> tails(group, bins, sorted, space.tails);
    kd::Window<Exec, T> window(group, bins, sorted, space.window);
    kd::TailPart found[2];
    tails.within(interval, found);
    const std::int64_t n[3] = {window.pixels(), window.below(T{0.25}), tails.hold_all() ? 1 : 0};
    const T ends[2] = {tails.outermost(0, interval), tails.outermost(1, interval)};
    for (std::int64_t rank = 0; rank < n[0]; ++rank) {
      const T x = window(rank);
      if (group.rank() == 0) by_rank[rank] = x;
    }
    if (group.rank() != 0) return;
    for (int i = 0; i < 2; ++i) parts[i] = found[i];
    for (int i = 0; i < 2; ++i) outermost[i] = ends[i];
    for (int i = 0; i < 3; ++i) counts[i] = n[i];
  }
};

template <class C>
void tails_and_window_answer_as_lists_do() {
  using Exec = typename C::exec;
  using T = typename C::real;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  auto host = mixed_pixels<T>(61, 517, 5);
  // Very many of one value: more than are put in order.
  for (std::size_t i = 0; i < host.values.size(); i += 9) host.values[i] = T(0.1);
  const auto image = ts::to_device<Exec>(host);
  ReadAndSorted<Exec, T> steps;
  steps.run(image);
  const kd::Brackets<T>& b = steps.brackets;
  std::vector<T> in_window;
  for (const T x : host.values)
    if (std::isfinite(x) && b.in_window(x)) in_window.push_back(x);
  std::sort(in_window.begin(), in_window.end());
  for (const core::Interval<T> interval :
       {core::Interval<T>{}, core::Interval<T>{T(-1.9), T(5)}, core::Interval<T>{T(-2.2), T(1e5)},
        core::Interval<T>{b.low_edge, b.high_edge}, core::Interval<T>{-infinity, T(2)}}) {
    using Ask = AskTailsAndWindow<Exec, T>;
    const List<Exec, kd::TailPart> parts("test::parts", 2);
    const List<Exec, T> outermost("test::outermost", 2), by_rank("test::by_rank", in_window.size());
    const List<Exec, std::int64_t> counts("test::counts", 3);
    core::for_each_group<Ask::threads>(
        "test::ask", steps.space, {1, static_cast<int>(sizeof(typename Ask::Space))},
        Ask{steps.brackets_there.data(), steps.sorted(), interval, parts.data(), outermost.data(),
            by_rank.data(), counts.data()});
    steps.space.fence("test::ask");
    std::int64_t n[2] = {};
    long double sum[2] = {}, squares[2] = {};
    T ends[2] = {infinity, -infinity};
    for (const T x : host.values) {
      if (!std::isfinite(x) || b.inside(x) || !interval.contains(x)) continue;
      const int side = x < b.centre ? 0 : 1;
      const long double u =
          std::abs(static_cast<long double>(x) - static_cast<long double>(b.centre)) *
          static_cast<long double>(b.grid.scale);
      ++n[side];
      sum[side] += u;
      squares[side] += u * u;
      ends[side] = side == 0 ? std::min(ends[0], x) : std::max(ends[1], x);
    }
    const auto found = on_host<Exec>(parts);
    const auto found_ends = on_host<Exec>(outermost);
    for (int side = 0; side < 2; ++side) {
      const auto s = static_cast<std::size_t>(side);
      EXPECT_EQ(found[s].count, n[side]);
      EXPECT_NEAR(found[s].sum, static_cast<double>(sum[side]),
                  1e-11 * static_cast<double>(sum[side]) + 1e-12);
      EXPECT_NEAR(found[s].squares, static_cast<double>(squares[side]),
                  1e-11 * static_cast<double>(squares[side]) + 1e-12);
      if (n[side] > 0) {
        EXPECT_EQ(found_ends[s], ends[side]);
      }
    }
    EXPECT_EQ(on_host<Exec>(by_rank), in_window);
    const auto found_counts = on_host<Exec>(counts);
    EXPECT_EQ(found_counts[0], static_cast<std::int64_t>(in_window.size()));
    EXPECT_EQ(found_counts[1],
              std::lower_bound(in_window.begin(), in_window.end(), T{0.25}) - in_window.begin());
    EXPECT_EQ(found_counts[2], 1);
  }
}

template <class T>
class ClipSteps : public ::testing::Test {};
TYPED_TEST_SUITE(ClipSteps, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(ClipSteps, TheRoughScaleIsThatOfSortedPixels) {
  rough_scale_is_that_of_sorted_pixels<TypeParam>();
}
TYPED_TEST(ClipSteps, TheSampleIsCounted) { sample_is_counted<TypeParam>(); }
TYPED_TEST(ClipSteps, TheReadSumsGathersAndMarks) { the_read_sums_gathers_and_marks<TypeParam>(); }
TYPED_TEST(ClipSteps, TailsAndWindowAnswerAsListsDo) {
  tails_and_window_answer_as_lists_do<TypeParam>();
}

}  // namespace
