// SPDX-License-Identifier: Apache-2.0

// How devices go through the pixels of runs: all of them, once, whatever lies at a multiple of 16
// bytes, and none beside them; from left to right, but for pieces of a run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <kastor/detail/measure_sources.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "emulated_team.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;
namespace kd = kastor::detail;

struct Seen {
  std::int32_t x;
  double pixel;
  bool operator==(const Seen&) const = default;
};

/// A row of exactly so many pixels, so that sanitizers see what is read beside it.
template <class T>
struct Row {
  std::unique_ptr<T[]> pixels;
  explicit Row(std::int32_t n) : pixels(std::make_unique<T[]>(static_cast<std::size_t>(n))) {
    std::iota(pixels.get(), pixels.get() + n, T{1});
  }
};

template <class T, class VisitPixels>
void visits_all_in_order(const VisitPixels& visit_pixels, const char* name) {
  std::vector<std::int32_t> lengths(75);
  std::iota(lengths.begin(), lengths.end(), 1);
  lengths.insert(lengths.end(), {143, 144, 145, 300});  // of which more is asked for ahead of time
  for (std::int32_t begin = 0; begin < 9; ++begin) {
    for (const std::int32_t n : lengths) {
      const Row<T> row(begin + n);
      std::vector<Seen> seen, want;
      for (std::int32_t x = begin; x < begin + n; ++x) want.push_back({x, x + 1.0});
      visit_pixels(row.pixels.get(), begin, begin + n, [&](std::int32_t x, T pixel) {
        seen.push_back({x, static_cast<double>(pixel)});
      });
      ASSERT_EQ(seen, want) << name << ", " << n << " pixels from " << begin;
    }
  }
}

template <class T>
void all_ways_visit_all_in_order() {
  visits_all_in_order<T>([](const auto&... a) { kd::visit_run(a...); }, "visit_run");
  visits_all_in_order<T>([](const auto&... a) { kd::visit_short_run(a...); }, "visit_short_run");
  visits_all_in_order<T>([](const auto&... a) { kd::visit_run_thoroughly(a...); },
                         "visit_run_thoroughly");
}
TEST(MeasuredRuns, VisitsPixelsInOrder) {
  all_ways_visit_all_in_order<float>();
  all_ways_visit_all_in_order<double>();
}

/// The pieces of a run, their pixels in the order of the columns.
template <class T, class Visit>
void visit_pieces(const T* pixels, std::int32_t begin, std::int32_t end, int shift,
                  const Visit& visit) {
  std::vector<Seen> seen;
  for (std::int32_t which = 0; which < 1 << shift; ++which) {
    kd::visit_piece(pixels, begin, end, {which, shift}, [&](std::int32_t x, T pixel) {
      seen.push_back({x, static_cast<double>(pixel)});
    });
  }
  std::ranges::sort(seen, {}, &Seen::x);
  for (const Seen& s : seen) visit(s.x, static_cast<T>(s.pixel));
}

TEST(MeasuredRuns, PiecesOfARunAreTheRun) {
  for (int shift = 0; shift <= 5; ++shift) {
    const auto visit = [shift](const auto* pixels, std::int32_t begin, std::int32_t end,
                               const auto& v) { visit_pieces(pixels, begin, end, shift, v); };
    visits_all_in_order<float>(visit, "visit_piece");
    visits_all_in_order<double>(visit, "visit_piece");
  }
}
/// Workers side by side read neighbouring packs, but for those at a run's ends.
TEST(MeasuredRuns, PiecesTakeTurns) {
  constexpr int shift = 3, pack = kd::PixelPack<float>::size;
  constexpr std::int32_t n = 256;
  const Row<float> row(n + pack);
  const float* const pixels = row.pixels.get() + kd::pixels_before_pack(row.pixels.get());
  for (std::int32_t which = 0; which < 1 << shift; ++which) {
    int seen = 0;
    kd::visit_piece(pixels, 0, n, {which, shift}, [&](std::int32_t x, float) {
      EXPECT_EQ(x / pack % (1 << shift), which);
      ++seen;
    });
    EXPECT_EQ(seen, n >> shift);
  }
}

/// The last pixels of the longest row that there can be, of which only these are in memory.
template <class T, class VisitPixels>
void visits_the_end_of_the_longest_row(const VisitPixels& visit_pixels, const char* name) {
  constexpr std::int32_t end = std::numeric_limits<std::int32_t>::max();
  for (std::int32_t n = 1; n < 75; ++n) {
    const std::int32_t begin = end - n;
    const Row<T> row(n);
    const auto address = reinterpret_cast<std::uintptr_t>(row.pixels.get());
    const auto* const first =
        reinterpret_cast<const T*>(address - static_cast<std::uintptr_t>(begin) * sizeof(T));
    std::vector<Seen> seen, want;
    for (std::int32_t i = 0; i < n; ++i) want.push_back({begin + i, i + 1.0});
    visit_pixels(first, begin, end, [&](std::int32_t x, T pixel) {
      seen.push_back({x, static_cast<double>(pixel)});
    });
    ASSERT_EQ(seen, want) << name << ", " << n << " pixels";
  }
}

TEST(MeasuredRuns, VisitsTheEndOfTheLongestRow) {
  using T = float;
  visits_the_end_of_the_longest_row<T>([](const auto&... a) { kd::visit_run(a...); }, "visit_run");
  visits_the_end_of_the_longest_row<T>([](const auto&... a) { kd::visit_short_run(a...); },
                                       "visit_short_run");
  visits_the_end_of_the_longest_row<T>(
      [](const T* pixels, std::int32_t begin, std::int32_t end, const auto& visit) {
        visit_pieces(pixels, begin, end, 2, visit);
      },
      "visit_piece");
  visits_the_end_of_the_longest_row<T>([](const auto&... a) { kd::visit_run_thoroughly(a...); },
                                       "visit_run_thoroughly");
}

TEST(MeasuredRuns, AreLongInTheMean) {
  kd::MeasuredRuns runs{};
  EXPECT_FALSE(runs.are_long()) << "where only the host knows how many there are";
  kastor::LabelCounts counts{};
  runs.counts = &counts;
  counts.runs = 10;
  counts.pixels = 319;
  EXPECT_FALSE(runs.are_long());
  counts.pixels = 320;
  EXPECT_TRUE(runs.are_long());
}

// ------------------------------------------------------- the first sweep of devices, on a host

/// One row each, of a few components.
struct Runs {
  std::vector<std::int32_t> begin, end, row;
  std::vector<std::uint32_t> label;
  std::vector<std::uint32_t> in_list;
  kastor::LabelCounts counts{};

  void add(std::int32_t first, std::int32_t past, std::uint32_t of) {
    row.push_back(static_cast<std::int32_t>(begin.size()));
    in_list.push_back(static_cast<std::uint32_t>(begin.size()));
    begin.push_back(first);
    end.push_back(past);
    label.push_back(of);
    counts.pixels += static_cast<std::uint64_t>(past - first);
    counts.labelled_runs = static_cast<std::uint32_t>(in_list.size());
    counts.runs = counts.labelled_runs;
    counts.components = std::max(counts.components, of);
  }
  [[nodiscard]] kd::MeasuredRuns view(std::int64_t nx) const {
    kd::MeasuredRuns runs{};
    runs.begin = begin.data();
    runs.end = end.data();
    runs.row = row.data();
    runs.label = label.data();
    runs.nx = nx;
    runs.counts = &counts;
    runs.run_capacity = static_cast<std::int64_t>(begin.size());
    runs.components = counts.components;
    runs.labelled = in_list.data();
    return runs;
  }
};

template <class T>
kd::Component<T> component_of(const Runs& runs, const ts::HostImage<T>& image,
                              std::uint32_t label) {
  auto c = kd::Component<T>::empty();
  T peak = -std::numeric_limits<T>::infinity(), magnitude = 0;
  for (std::size_t i = 0; i < runs.begin.size(); ++i) {
    if (runs.label[i] != label) continue;
    c.join(kd::RunExtents::of(runs.begin[i], runs.end[i], runs.row[i]));
    ++c.runs_left;
    for (std::int32_t x = runs.begin[i]; x < runs.end[i]; ++x) {
      const T pixel = image.values[static_cast<std::size_t>(runs.row[i] * image.nx + x)];
      peak = std::max(peak, pixel);
      magnitude = std::max(magnitude, std::abs(pixel));
    }
  }
  c.peak = kd::key_of(peak);
  c.magnitude = magnitude > peak ? kd::key_of(magnitude) : 0;
  return c;
}

template <class T>
void finds_extents(const Runs& runs, std::int64_t workers) {
  using Exec = ts::EmulatedTeams;
  ts::HostImage<T> image(static_cast<std::int64_t>(runs.begin.size()), 300);
  ts::Random random(4);
  for (T& pixel : image.values) pixel = static_cast<T>(random.gaussian() - 1);
  std::vector<kd::Component<T>> got(runs.counts.components, kd::Component<T>::empty());

  kd::FindExtents<T, Exec> find{};
  find.band.runs = runs.view(image.nx);
  find.band.workers = workers;
  find.band.past_word = image.ny * ((image.nx + 63) / 64);
  find.band.bands = 1;
  find.band.band[0] = {image.values.data(), image.nx, 0};
  find.band.components = got.data();
  for (std::int64_t worker = 0; worker < workers; ++worker) find(worker);

  for (std::uint32_t label = 1; label <= got.size(); ++label) {
    const auto want = component_of(runs, image, label);
    const auto& c = got[label - 1];
    EXPECT_EQ(c.n_pix, want.n_pix) << label << " of " << workers;
    EXPECT_EQ(c.x_min, want.x_min);
    EXPECT_EQ(c.x_max, want.x_max);
    EXPECT_EQ(c.y_max, want.y_max);
    EXPECT_EQ(c.longest_run, want.longest_run);
    EXPECT_EQ(c.runs_left, want.runs_left);
    EXPECT_EQ(c.peak, want.peak);
    EXPECT_EQ(std::max(c.peak, c.magnitude), std::max(want.peak, want.magnitude));
  }
}
/// Of one worker, of fewer than there are runs, and of so many that long runs are in pieces.
template <class T>
void finds_extents_by_any_workers(const Runs& runs) {
  for (const std::int64_t workers : {1, 3, 40, 1000}) finds_extents<T>(runs, workers);
}

TEST(MeasuredRuns, FindsExtentsOfLongRuns) {
  Runs runs;
  runs.add(3, 299, 1);
  runs.add(40, 41, 2);
  runs.add(0, 300, 2);
  runs.add(7, 24, 1);
  ASSERT_TRUE(runs.view(300).are_long());
  finds_extents_by_any_workers<float>(runs);
  finds_extents_by_any_workers<double>(runs);
}
TEST(MeasuredRuns, FindsExtentsOfShortRuns) {
  Runs runs;
  for (std::int32_t i = 0; i < 60; ++i)
    runs.add(i, 2 * i + 1, static_cast<std::uint32_t>(i / 7 % 3 + 1));
  ASSERT_FALSE(runs.view(300).are_long());
  finds_extents_by_any_workers<float>(runs);
  finds_extents_by_any_workers<double>(runs);
}

// ------------------------------------------------------------------- the second sweep of devices

/// As it is promised: pixels in units of the component's, in two exact steps, from left to right.
template <class T>
typename kd::SumRuns<T, ts::EmulatedTeams>::Part sums_naive(const kd::Run& run, const T* pixels,
                                                            const kd::Component<T>& c,
                                                            std::int32_t y_min) {
  const kd::ComponentGrid<T> grid(c, y_min);
  double flux = 0, x_moment = 0;
  std::int32_t peak_x = -1;
  for (std::int32_t x = run.begin; x < run.end; ++x) {
    const double v = std::ldexp(static_cast<double>(pixels[x]), -grid.pixel);
    flux += v;
    x_moment += v * static_cast<double>(x - c.x_min);
    if (peak_x < 0 && pixels[x] == kd::value_of<T>(c.peak)) peak_x = x;
  }
  return {kd::WideSum::of(flux, grid.flux_bits), kd::WideSum::of(x_moment, grid.x_bits),
          kd::WideSum::of(flux * static_cast<double>(run.row - y_min), grid.y_bits),
          peak_x < 0 ? ~std::uint64_t{0} : kd::RasterPlace::of(run.row, peak_x)};
}

/// As a lane of a warp does with lines: what lies at multiples of 16 bytes by packs.
template <class T>
kd::SumsPart sums_by_packs(const kd::Run& run, const T* pixels, const kd::Component<T>& c,
                           std::int32_t y_min) {
  using Pack = kd::PixelPack<T>;
  kd::RunSums<T, kd::SumsOfLongRun<T>> sums(run, kd::ComponentFrame<T>(c, y_min));
  std::int32_t x = run.begin;
  for (const auto head = kd::pixels_before_pack(pixels + x); x < run.begin + head && x < run.end;
       ++x)
    sums.take(x, pixels[x]);
  for (; run.end - x >= Pack::size; x += Pack::size)
    sums.take(x, *reinterpret_cast<const Pack*>(pixels + x));
  for (; x < run.end; ++x) sums.take(x, pixels[x]);
  sums.settle(pixels);
  return sums.part();
}
void expect_same_sums(const kd::SumsPart& got, const kd::SumsPart& want, const char* what) {
  EXPECT_EQ(got.flux.high, want.flux.high) << what;
  EXPECT_EQ(got.flux.low, want.flux.low) << what;
  EXPECT_EQ(got.x_moment.high, want.x_moment.high) << what;
  EXPECT_EQ(got.x_moment.low, want.x_moment.low) << what;
  EXPECT_EQ(got.y_moment.high, want.y_moment.high) << what;
  EXPECT_EQ(got.y_moment.low, want.y_moment.low) << what;
  EXPECT_EQ(got.peak_at, want.peak_at) << what;
}

/// `pixel_of(random)`: what the pixels are; with the component's peak among them, and elsewhere.
template <class T, class PixelOf>
void sums_as_promised(const PixelOf& pixel_of, const char* what) {
  using Sum = kd::SumRuns<T, ts::EmulatedTeams>;
  using Find = kd::FindExtents<T, ts::EmulatedTeams>;
  ts::Random random(6);
  for (const std::int32_t n : {1, 15, 16, 17, 60, 333}) {
    const kd::Run run{7, 7 + n, 12, 1};
    std::vector<T> pixels(static_cast<std::size_t>(run.end));
    for (T& pixel : pixels) pixel = pixel_of(random);
    const auto extents = Find::of(run, pixels.data());
    auto c = kd::Component<T>::empty();
    c.join(extents);
    c.join(kd::RunExtents::of(3, 400, 9));
    c.peak = extents.peak;
    c.magnitude = extents.magnitude;
    for (const bool has_peak : {true, false}) {
      if (!has_peak) c.peak = kd::key_of(std::numeric_limits<T>::max());
      const auto got = Sum::of(run, pixels.data(), kd::ComponentFrame<T>(c, 9));
      const auto want = sums_naive(run, pixels.data(), c, 9);
      expect_same_sums(got, want, what);
      EXPECT_EQ(got.peak_at == ~std::uint64_t{0}, !has_peak);
      expect_same_sums(sums_by_packs(run, pixels.data(), c, 9), want, what);
    }
  }
}
template <class T>
void sums_of_all_kinds_as_promised() {
  using Limits = std::numeric_limits<T>;
  sums_as_promised<T>([](ts::Random& r) { return static_cast<T>(r.gaussian()); }, "noise");
  sums_as_promised<T>([](ts::Random&) { return T{0}; }, "zeros");
  sums_as_promised<T>(
      [](ts::Random& r) { return static_cast<T>(r.below(5)) * Limits::denorm_min(); }, "denormals");
  sums_as_promised<T>(
      [](ts::Random& r) { return static_cast<T>(r.uniform() - 0.5) * Limits::max(); }, "largest");
}
TEST(MeasuredRuns, SumsAsPromised) {
  sums_of_all_kinds_as_promised<float>();
  sums_of_all_kinds_as_promised<double>();
}

/// The farthest columns for which a product of a pixel and a distance is exact.
TEST(MeasuredRuns, SumsFarFromTheFirstColumn) {
  ts::Random random(8);
  constexpr auto far = static_cast<std::int32_t>(kd::FusedSums::most_columns) - 16;
  std::vector<float> pixels(16);
  for (int i = 0; i < 50; ++i) {
    kd::ScaledSums<float> scaled(-3, far);
    kd::FusedSums fused(-3, far);
    for (float& pixel : pixels) {
      pixel = static_cast<float>(8 * random.gaussian());
      scaled.take(pixel);
      fused.take(pixel);
    }
    EXPECT_EQ(scaled.flux(), fused.flux());
    EXPECT_EQ(scaled.moment(), fused.moment());
  }
}

}  // namespace
