// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/island_finder.hpp>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;

constexpr double noise = 0.0133;  ///< of the simulated sky

/// A sky that varies by a third of the noise, a noise that varies by a fifth, on a mesh of 64
/// pixels.
template <class Exec, class T>
kastor::Background<Exec, T> on_a_mesh(std::int64_t n) {
  using Nodes = Kokkos::View<kastor::MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space>;
  const std::int64_t cells = (n + 63) / 64;
  const auto surface = [&](double mean, double scatter, bool positive) {
    const Nodes nodes("bench::nodes", cells, cells);
    const auto host = Kokkos::create_mirror_view(nodes);
    for (std::int64_t j = 0; j < cells; ++j) {
      for (std::int64_t i = 0; i < cells; ++i) {
        const double wave =
            std::sin(1.3 * static_cast<double>(i)) + std::sin(1.9 * static_cast<double>(j));
        host(j, i) = {mean + scatter * wave / 2, -scatter * wave / 2, -scatter * wave / 2,
                      scatter * wave / 4};
      }
    }
    Kokkos::deep_copy(nodes, host);
    return kastor::MeshSurface<Exec>{64, 64, positive, nodes};
  };
  return {surface(0, noise / 3, false), surface(noise, noise / 5, true)};
}

template <class Exec, class T>
void time_islands(benchmark::State& state, const kastor::Background<Exec, T>& background,
                  double seed, double flood) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  kastor::IslandParams params;
  params.seed = seed;
  params.flood = flood;
  kastor::IslandFinder<Exec, T> find(space, params);
  ts::time_on_image<Exec, T>(state, space, sky,
                             [&] { benchmark::DoNotOptimize(find.find(sky, background)); });
  state.counters["islands"] = static_cast<double>(find.labels().components);
  state.counters["foreground"] = static_cast<double>(find.labels().foreground_pixels);
}
/// From the image on the device to the rows, with each kind of map.
template <class Exec, class T>
void bm_find_islands(benchmark::State& state) {
  time_islands<Exec, T>(state, on_a_mesh<Exec, T>(state.range(0)), 5, 3);
}
template <class Exec, class T>
void bm_find_islands_constants(benchmark::State& state) {
  time_islands<Exec, T>(state, {0.0, noise}, 5, 3);
}
template <class Exec, class T>
void bm_find_islands_images(benchmark::State& state) {
  const auto n = state.range(0);
  const kastor::Image<T, Exec> level("bench::level", n, n);
  const kastor::Image<T, Exec> rms("bench::rms", n, n);
  Kokkos::deep_copy(rms, static_cast<T>(noise));
  using Image = kastor::ConstImage<T, Exec>;
  time_islands<Exec, T>(state, {Image(level), Image(rms)}, 5, 3);
}
/// A sixth of the pixels is foreground.
template <class Exec, class T>
void bm_find_islands_dense(benchmark::State& state) {
  time_islands<Exec, T>(state, on_a_mesh<Exec, T>(state.range(0)), 1, 1);
}

/// From the image on the device to the rows, with the maps.
template <class Exec, class T>
void time_maps_and_islands(benchmark::State& state, const kastor::ConstImage<T, Exec>& image) {
  const Exec space;
  kastor::BackgroundParams background;
  kastor::BackgroundEstimator<Exec, T> estimate(space, background);
  kastor::IslandParams params;
  params.seed = 5;
  params.flood = 3;
  kastor::IslandFinder<Exec, T> find(space, params);
  ts::time_on_image<Exec, T>(state, space, image, [&] {
    const auto mesh = estimate(image);
    benchmark::DoNotOptimize(find.find(image, mesh.background()));
  });
  state.counters["islands"] = static_cast<double>(find.labels().components);
}
template <class Exec, class T>
void bm_maps_and_islands(benchmark::State& state) {
  time_maps_and_islands<Exec, T>(state, ts::simulated_sky<Exec, T>(state.range(0)));
}
template <class Exec, class T>
void bm_maps_and_islands_of_noise(benchmark::State& state) {
  time_maps_and_islands<Exec, T>(state, ts::independent_noise<Exec, T>(state.range(0)));
}

#define KASTOR_REGISTER(EXEC, T)                                                                \
  ts::register_on_sizes<EXEC, T>("find_islands", bm_find_islands<EXEC, T>);                     \
  ts::register_on_sizes<EXEC, T>("find_islands_constants", bm_find_islands_constants<EXEC, T>); \
  ts::register_on_sizes<EXEC, T>("find_islands_images", bm_find_islands_images<EXEC, T>);       \
  ts::register_on_sizes<EXEC, T>("find_islands_dense", bm_find_islands_dense<EXEC, T>);         \
  ts::register_on_sizes<EXEC, T>("maps_and_islands", bm_maps_and_islands<EXEC, T>);             \
  ts::register_on_sizes<EXEC, T>("maps_and_islands_of_noise",                                   \
                                 bm_maps_and_islands_of_noise<EXEC, T>);

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
