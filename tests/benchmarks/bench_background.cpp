// SPDX-License-Identifier: Apache-2.0
#include <kastor/background.hpp>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;

/// The nodes of both maps, in cells of 64 x 64 pixels.
template <class Exec, class T>
void time_nodes(benchmark::State& state, const kastor::ConstImage<T, Exec>& image) {
  const Exec space;
  kastor::BackgroundParams params;
  kastor::BackgroundEstimator<Exec, T> estimate(space, params);
  ts::time_on_image<Exec, T>(state, space, image,
                             [&] { benchmark::DoNotOptimize(estimate(image)); });
}
template <class Exec, class T>
void bm_background(benchmark::State& state) {
  time_nodes<Exec, T>(state, ts::simulated_sky<Exec, T>(state.range(0)));
}
template <class Exec, class T>
void bm_background_of_noise(benchmark::State& state) {
  time_nodes<Exec, T>(state, ts::independent_noise<Exec, T>(state.range(0)));
}

/// One map as an image.
template <class Exec, class T>
void bm_fill_map(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(n);
  const auto background = kastor::estimate_background(space, sky).background();
  const kastor::Image<T, Exec> map(Kokkos::view_alloc(Kokkos::WithoutInitializing, "bench::map"), n,
                                   n);
  ts::time_on_image<Exec, T>(state, space, sky,
                             [&] { kastor::fill_map<Exec, T>(space, background.level, map); });
}

#define KASTOR_REGISTER(EXEC, T)                                                          \
  ts::register_on_sizes<EXEC, T>("background", bm_background<EXEC, T>);                   \
  ts::register_on_sizes<EXEC, T>("background_of_noise", bm_background_of_noise<EXEC, T>); \
  ts::register_on_sizes<EXEC, T>("fill_map", bm_fill_map<EXEC, T>);

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
