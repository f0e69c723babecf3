// SPDX-License-Identifier: Apache-2.0

// The whole job on images that are hard on it, beside the ordinary sky: `times_sky` should stay
// below 3.

#include <cmath>
#include <kastor/label.hpp>
#include <kastor/measure.hpp>
#include <kastor/sigma_clip.hpp>
#include <kastor/source_finder.hpp>
#include <kastor/threshold.hpp>
#include <string>
#include <utility>

#include "benchmarks.hpp"
#include "device.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;

constexpr std::int64_t tile = 1024;

/// Repeats a square.
template <class Exec, class T>
struct Repeat {
  kastor::ConstImage<T, Exec> square;
  kastor::Image<T, Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    image(i / nx, i % nx) = square((i / nx) % tile, (i % nx) % tile);
  }
};

template <class T>
ts::HostImage<T> square_of(const std::string& kind) {
  for (const ts::Pixels pixels : ts::all_pixel_kinds) {
    if (ts::name_of(pixels) == kind) return ts::make_image<T>(pixels, tile, tile, 1);
  }
  ts::Random random(2);
  ts::HostImage<T> image(tile, tile);
  for (std::int64_t y = 0; y < tile; ++y) {
    for (std::int64_t x = 0; x < tile; ++x) {
      double value = random.gaussian();
      if (kind == "60 % in blobs") {
        const double dy = static_cast<double>(y % 64) - 32;
        const double dx = static_cast<double>(x % 64) - 32;
        if (dy * dy + dx * dx < 28 * 28) value += 20 + random.uniform();
      } else if (kind == "60 % at random") {
        if (random.uniform() < 0.6) value += 20;
      } else if (kind == "two-sided exponential") {
        value = -std::log(random.uniform()) * (random.below(2) == 0 ? 1 : -1);
      }
      image(y, x) = static_cast<T>(value);
    }
  }
  return image;
}

template <class Exec, class T>
double seconds_of(const Exec& space, kastor::SourceFinder<Exec, T>& find,
                  const kastor::ConstImage<T, Exec>& image) {
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 4; ++repeat) {
    const Kokkos::Timer timer;
    benchmark::DoNotOptimize(find(image));
    space.fence("bench::after");
    if (repeat > 0) best = std::min(best, timer.seconds());
  }
  return best;
}

template <class Exec, class T>
void bm_image(benchmark::State& state, const std::string& kind, double level,
              kastor::Connectivity connectivity) {
  const Exec space;
  const std::int64_t n = state.range(0);
  const kastor::Image<T, Exec> image("bench::image", n, n);
  {
    const kastor::Image<T, Exec> square = ts::to_device<Exec>(square_of<T>(kind));
    Kokkos::parallel_for(
        "bench::repeat",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(space, 0, n * n),
        Repeat<Exec, T>{square, image});
    space.fence("bench::repeat");
  }
  kastor::SourceFinder<Exec, T> find_in_sky(space);
  const double of_sky = seconds_of<Exec, T>(space, find_in_sky, ts::simulated_sky<Exec, T>(n));
  kastor::FindParams params;
  // So high that the rows are few: what is timed is not the copying of rows.
  if (level > 0) params.level = level;
  params.label.connectivity = connectivity;
  kastor::SourceFinder<Exec, T> find(space, params);
  const auto result = find(image);
  double best = std::numeric_limits<double>::max();
  for (auto _ : state) {
    const Kokkos::Timer timer;
    benchmark::DoNotOptimize(find(image));
    space.fence("bench::after");
    state.SetIterationTime(timer.seconds());
    best = std::min(best, timer.seconds());
  }
  state.counters["times_sky"] = best / of_sky;
  state.counters["passes"] = result.clip.passes;
  state.counters["sources"] = static_cast<double>(result.sources.size());
  state.SetLabel(result.clip.route == kastor::ClipRoute::bracketed ? "bracketed" : "multi-pass");
}

template <class Exec, class T>
void register_images() {
  const std::pair<const char*, double> images[] = {
      {"constant", 0},    {"two values", 0}, {"narrow integers", 0}, {"wide integers", 0},
      {"sixteen bit", 0}, {"half blank", 0}, {"exponential", 12},    {"two-sided exponential", 12},
      {"outliers", 0},    {"cauchy", 1e4},   {"60 % in blobs", 10},  {"60 % at random", 10}};
  const std::string suffix = std::is_same_v<T, float> ? "_float" : "_double";
  for (const auto& [kind, level] : images) {
    benchmark::RegisterBenchmark(
        (std::string("find_in/") + kind + '/' + Exec::name() + suffix).c_str(),
        [kind = std::string(kind), level = level](benchmark::State& state) {
          // With corners, six tenths of the pixels at random are one component.
          const bool random = kind == "60 % at random";
          bm_image<Exec, T>(state, kind, level,
                            random ? kastor::Connectivity::eight : kastor::Connectivity::four);
        })
        ->Arg(2048)
        ->Arg(8192)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

// ---------------------------------------------------------------- time against the number of
// sources

/// Squares of 3 x 3 bright pixels, `across` in each direction.
template <class Exec, class T>
struct Stamp {
  kastor::Image<T, Exec> image;
  std::int64_t across;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int64_t>(image.extent(0));
    const std::int64_t y = (2 * (i / across) + 1) * n / (2 * across);
    const std::int64_t x = (2 * (i % across) + 1) * n / (2 * across);
    for (int k = 0; k < 9; ++k) image(y - 1 + k / 3, x - 1 + k % 3) += static_cast<T>(20);
  }
};

/// Where the rows end: in a list of the caller's, in the finder's memory on the host, on the
/// device.
enum class RowsEnd { copied, in_place, on_device };

template <class Exec, class T>
void bm_sources(benchmark::State& state, RowsEnd rows) {
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const Exec space;
  constexpr std::int64_t n = 16384;
  const auto across = static_cast<std::int64_t>(std::lround(std::sqrt(state.range(0))));
  const kastor::Image<T, Exec> image("bench::image", n, n);
  {
    const kastor::Image<T, Exec> square = ts::to_device<Exec>(square_of<T>("noise"));
    Kokkos::parallel_for("bench::repeat", Range(space, 0, n * n), Repeat<Exec, T>{square, image});
    Kokkos::parallel_for("bench::stamp", Range(space, 0, across * across),
                         Stamp<Exec, T>{image, across});
    space.fence("bench::stamp");
  }
  kastor::FindParams params;
  params.threshold = 8;  // no noise
  kastor::SourceFinder<Exec, T> find(space, params);
  kastor::SigmaClipper<Exec, T> clip(space);
  kastor::Labeller<Exec> label(space);
  kastor::Measurer<Exec, T> measure(space);
  const auto mask = kastor::make_bit_mask(space, n, n);
  std::int64_t sources = 0;
  ts::time_on_image<Exec, T>(state, space, image, [&] {
    if (rows == RowsEnd::on_device) {
      const auto clipped = clip(image);
      kastor::threshold_into<Exec, T>(space, image, 8 * clipped.clipped.std, mask);
      benchmark::DoNotOptimize(measure(image, label(mask)));
      sources = label.labels().components;
    } else if (rows == RowsEnd::in_place) {
      sources = static_cast<std::int64_t>(find.find(image).sources.size());
    } else {
      sources = static_cast<std::int64_t>(find(image).sources.size());
    }
  });
  state.counters["sources"] = static_cast<double>(sources);
}

template <class Exec, class T>
void register_sources() {
  const std::string suffix = std::is_same_v<T, float> ? "_float" : "_double";
  for (const auto& [name, rows] :
       {std::pair{"sources/", RowsEnd::copied}, std::pair{"sources_in_place/", RowsEnd::in_place},
        std::pair{"sources_rows_stay/", RowsEnd::on_device}}) {
    auto* const bench = benchmark::RegisterBenchmark(
        (std::string(name) + Exec::name() + suffix).c_str(),
        [end = rows](benchmark::State& state) { bm_sources<Exec, T>(state, end); });
    bench->UseManualTime()->Unit(benchmark::kMicrosecond);
    for (const std::int64_t count : {100, 1024, 10000, 99856, 1000000}) bench->Arg(count);
  }
}

#define KASTOR_REGISTER(EXEC, T) \
  register_images<EXEC, T>();    \
  register_sources<EXEC, T>();

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
