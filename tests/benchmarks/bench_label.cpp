// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <kastor/detail/instantiations.hpp>
#include <kastor/label.hpp>
#include <kastor/threshold.hpp>
#include <string>

#include "benchmarks.hpp"
#include "device.hpp"
#include "generators.hpp"

namespace {

namespace ts = testing_support;

/// Five times the noise of the simulated sky.
constexpr double level = 5 * 0.0133;

template <class Exec, class T>
void bm_threshold(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(n);
  const auto mask = kastor::make_bit_mask(space, n, n);
  ts::time_on_image<Exec, T>(state, space, sky,
                             [&] { kastor::threshold_into<Exec, T>(space, sky, level, mask); });
}

/// Items are pixels, bytes are those of the mask.
template <class Exec>
void time_label(benchmark::State& state, const kastor::BitMask<Exec>& mask) {
  const Exec space;
  kastor::Labeller<Exec> label(space);
  const auto& labels = label(mask);
  for (auto _ : state) {
    space.fence("bench::before");
    const Kokkos::Timer timer;
    benchmark::DoNotOptimize(label(mask).components);
    space.fence("bench::after");
    state.SetIterationTime(timer.seconds());
  }
  const auto iterations = static_cast<std::int64_t>(state.iterations());
  state.SetItemsProcessed(iterations * mask.ny * mask.nx);
  state.SetBytesProcessed(iterations * mask.ny * mask.words_per_row() * 8);
  state.counters["runs"] = static_cast<double>(labels.runs);
  state.counters["components"] = static_cast<double>(labels.components);
}

template <class Exec>
void bm_label_sky(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<float, Exec> sky = ts::simulated_sky<Exec, float>(state.range(0));
  time_label<Exec>(state, kastor::threshold(space, sky, level));
}

/// Near the percolation threshold of 4-connectivity: large, ragged components and many runs.
template <class Exec>
void bm_label_random(benchmark::State& state) {
  time_label<Exec>(
      state, ts::to_device_mask<Exec>(ts::random_mask(state.range(0), state.range(0), 0.6, 42)));
}

template <class Exec>
void bm_label_ones(benchmark::State& state) {
  time_label<Exec>(state,
                   ts::to_device_mask<Exec>(ts::HostMask(state.range(0), state.range(0), 1)));
}

template <class Exec>
void bm_write_labels(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::ConstImage<float, Exec> sky = ts::simulated_sky<Exec, float>(n);
  const auto labels = kastor::label(space, kastor::threshold(space, sky, level));
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename Exec::memory_space> dense(
      "bench::labels", n, n);
  ts::time_on_image<Exec, float>(state, space, sky,
                                 [&] { kastor::write_labels(space, labels, dense); });
}

template <class Exec>
void register_masks(const std::string& name, void (*run)(benchmark::State&)) {
  benchmark::RegisterBenchmark((name + '/' + Exec::name()).c_str(), run)
      ->RangeMultiplier(4)
      ->Range(512, 8192)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

#define KASTOR_REGISTER_THRESHOLD(EXEC, T) \
  ts::register_on_sizes<EXEC, T>("threshold", bm_threshold<EXEC, T>);
#define KASTOR_REGISTER_LABEL(EXEC)                               \
  register_masks<EXEC>("label_sky", bm_label_sky<EXEC>);          \
  register_masks<EXEC>("label_random_60", bm_label_random<EXEC>); \
  register_masks<EXEC>("label_ones", bm_label_ones<EXEC>);        \
  register_masks<EXEC>("write_labels", bm_write_labels<EXEC>);

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER_THRESHOLD)
  KASTOR_FOR_EACH_EXEC(KASTOR_REGISTER_LABEL)
  return true;
}();

}  // namespace
