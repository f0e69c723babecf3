// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_BENCHMARKS_HPP
#define KASTOR_TESTS_BENCHMARKS_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/image.hpp>
#include <kastor/simulate.hpp>
#include <limits>
#include <string>
#include <type_traits>

namespace testing_support {

// ------------------------------------------------------------------------------------- images

/// The last image that was asked for: Google Benchmark calls a benchmark several times to find its
/// number of iterations.
template <class Exec, class T>
struct KeptImage {
  kastor::Image<T, Exec> image;
  std::string name;

  static KeptImage& one() {
    static KeptImage kept;
    static const bool hooked = [] {
      Kokkos::push_finalize_hook([] { kept = {}; });
      return true;
    }();
    (void)hooked;
    return kept;
  }
};

/// An image of n x n pixels, filled by `fill(image)`.
template <class Exec, class T, class Fill>
const kastor::Image<T, Exec>& kept_image(const std::string& name, std::int64_t n,
                                         const Fill& fill) {
  auto& kept = KeptImage<Exec, T>::one();
  const auto size = static_cast<std::size_t>(n);
  if (kept.name != name || kept.image.extent(0) != size) {
    kept = {};
    kept = {kastor::Image<T, Exec>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bench::image"),
                                   size, size),
            name};
    fill(kept.image);
  }
  return kept.image;
}

template <class Exec, class T>
const kastor::Image<T, Exec>& simulated_sky(std::int64_t n) {
  return kept_image<Exec, T>("sky", n, [n](const kastor::Image<T, Exec>& image) {
    kastor::SkyParams params;
    params.ny = n;
    params.nx = n;
    kastor::simulate_sky<Exec, T>(Exec{}, params, kastor::sky_truth(params), image);
  });
}

/// Independent normal pixels (Box and Muller), with the noise of the simulated sky.
template <class Exec, class T>
struct FillWithNoise {
  kastor::Image<T, Exec> image;

  KOKKOS_FUNCTION static double uniform(std::uint64_t i) {  // splitmix64, in (0, 1)
    std::uint64_t z = i * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (static_cast<double>((z ^ (z >> 31)) >> 12) + 0.5) * 0x1p-52;
  }
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    const auto place = static_cast<std::uint64_t>(2 * i);
    const double radius = Kokkos::sqrt(-2 * Kokkos::log(uniform(place)));
    const double angle = 2 * Kokkos::numbers::pi * uniform(place + 1);
    image(i / nx, i % nx) = static_cast<T>(kastor::SkyParams{}.noise * radius * Kokkos::cos(angle));
  }
};
template <class Exec, class T>
const kastor::Image<T, Exec>& independent_noise(std::int64_t n) {
  return kept_image<Exec, T>("noise", n, [n](const kastor::Image<T, Exec>& image) {
    Kokkos::parallel_for("bench::noise", Kokkos::RangePolicy<Exec>(Exec{}, 0, n * n),
                         FillWithNoise<Exec, T>{image});
    Exec{}.fence("bench::noise");
  });
}

// ----------------------------------------------------------------------------------- baseline

/// A row's sum in 16 lanes, which a compiler may keep in vector registers.
template <class Exec, class T>
struct SumOfRow {
  kastor::ConstImage<T, Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t y, double& sum) const {
    constexpr std::int64_t width = 16;
    const T* row = &image(y, 0);
    const auto nx = static_cast<std::int64_t>(image.extent(1));
    double lanes[width] = {};
    std::int64_t x = 0;
    for (; x + width <= nx; x += width) {
      for (std::int64_t lane = 0; lane < width; ++lane)
        lanes[lane] += static_cast<double>(row[x + lane]);
    }
    for (; x < nx; ++x) sum += static_cast<double>(row[x]);
    for (std::int64_t lane = 0; lane < width; ++lane) sum += lanes[lane];
  }
};

template <class Exec, class T>
struct SumOfPixel {
  kastor::ConstImage<T, Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& sum) const {
    sum += static_cast<double>(image.data()[i]);
  }
};

/// The plain sum of all pixels: one read of the image, the yardstick of every other algorithm.
template <class Exec, class T>
double plain_sum(const Exec& space, const kastor::ConstImage<T, Exec>& image) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const auto ny = static_cast<std::int64_t>(image.extent(0));
  const auto nx = static_cast<std::int64_t>(image.extent(1));
  double sum = 0;
  if constexpr (kastor::is_host_space_v<Exec>) {
    Kokkos::parallel_reduce("bench::plain_sum", Policy(space, 0, ny), SumOfRow<Exec, T>{image},
                            sum);
  } else {
    Kokkos::parallel_reduce("bench::plain_sum", Policy(space, 0, ny * nx),
                            SumOfPixel<Exec, T>{image}, sum);
  }
  return sum;
}

/// Best of some repeats [s].
template <class Exec, class T>
double seconds_of_plain_sum(const Exec& space, const kastor::ConstImage<T, Exec>& image) {
  double best = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 7; ++repeat) {
    space.fence("bench::before");
    const Kokkos::Timer timer;
    benchmark::DoNotOptimize(plain_sum<Exec, T>(space, image));
    best = std::min(best, timer.seconds());
  }
  return best;
}

// ------------------------------------------------------------------------------------- timing

/// Times `call` alone, from an idle instance to an idle instance. `best` is the fastest [s];
/// `plain_sums` tells how many plain sums of the image take as long.
template <class Exec, class T, class Call>
void time_on_image(benchmark::State& state, const Exec& space,
                   const kastor::ConstImage<T, Exec>& image, const Call& call) {
  const double yardstick = seconds_of_plain_sum<Exec, T>(space, image);
  call();  // work space is allocated by the first call
  double total = 0, best = std::numeric_limits<double>::max();
  for (auto _ : state) {
    space.fence("bench::before");
    const Kokkos::Timer timer;
    call();
    space.fence("bench::after");
    const double seconds = timer.seconds();
    total += seconds;
    best = std::min(best, seconds);
    state.SetIterationTime(seconds);
  }
  const auto pixels = static_cast<std::int64_t>(image.extent(0) * image.extent(1));
  const auto iterations = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(iterations * pixels);
  state.SetBytesProcessed(iterations * pixels * static_cast<std::int64_t>(sizeof(T)));
  state.counters["best"] = best;
  state.counters["plain_sums"] = total / static_cast<double>(iterations) / yardstick;
}

/// `name/OpenMP_float/512` ... `16384`
template <class Exec, class T>
void register_on_sizes(const std::string& name, void (*run)(benchmark::State&)) {
  const std::string suffix = std::is_same_v<T, float> ? "_float" : "_double";
  benchmark::RegisterBenchmark((name + '/' + Exec::name() + suffix).c_str(), run)
      ->Arg(512)
      ->Arg(2048)
      ->Arg(4096)
      ->Arg(8192)
      ->Arg(16384)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace testing_support

#endif
