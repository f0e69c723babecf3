// SPDX-License-Identifier: Apache-2.0
#include <kastor/sigma_clip.hpp>
#include <kastor/statistics.hpp>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;

template <class Exec, class T>
void bm_plain_sum(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  ts::time_on_image<Exec, T>(state, space, sky,
                             [&] { benchmark::DoNotOptimize(ts::plain_sum<Exec, T>(space, sky)); });
}

template <class Exec, class T>
void bm_statistics(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  ts::time_on_image<Exec, T>(state, space, sky, [&] {
    benchmark::DoNotOptimize(kastor::statistics_of_image<Exec, T>(space, sky));
  });
}

template <class Exec, class T>
void bm_sigma_clip(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  kastor::SigmaClipper<Exec, T> clip(space);
  const auto result = clip(sky);
  ts::time_on_image<Exec, T>(state, space, sky, [&] { benchmark::DoNotOptimize(clip(sky)); });
  state.counters["passes"] = result.passes;
  state.SetLabel(result.route == kastor::ClipRoute::bracketed ? "bracketed" : "multi-pass");
}

#define KASTOR_REGISTER(EXEC, T)                                        \
  ts::register_on_sizes<EXEC, T>("plain_sum", bm_plain_sum<EXEC, T>);   \
  ts::register_on_sizes<EXEC, T>("statistics", bm_statistics<EXEC, T>); \
  ts::register_on_sizes<EXEC, T>("sigma_clip", bm_sigma_clip<EXEC, T>);

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
