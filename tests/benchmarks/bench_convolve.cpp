// SPDX-License-Identifier: Apache-2.0
#include <kastor/convolve.hpp>
#include <kastor/simulate.hpp>
#include <vector>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;
using kastor::ConvolveMethod;

/// The lesson's image and kernel; `plain_sums` tells how many sums of the image take as long.
template <class Exec, class T, ConvolveMethod Method>
void bm_convolve(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::Image<T, Exec> image("bench::image", n, n);
  kastor::simulate_diracs<Exec, T>(space, 16, image);
  kastor::Convolver<Exec, T> convolver(space, kastor::lesson_kernel(),
                                       {kastor::ConvolveMode::full, Method});
  const auto shape = convolver.result_shape({n, n});
  const kastor::Image<T, Exec> result("bench::result", shape.ny, shape.nx);
  ts::time_on_image<Exec, T>(state, space, image, [&] { convolver(image, result); });
}

/// One read and one write: what a convolution cannot be faster than.
template <class Exec, class T>
void bm_copy(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::Image<T, Exec> image("bench::image", n, n);
  const kastor::Image<T, Exec> result("bench::result", n, n);
  ts::time_on_image<Exec, T>(state, space, image, [&] { Kokkos::deep_copy(space, result, image); });
}

template <class Exec, class T>
void bm_convolve_signal(benchmark::State& state) {
  const Exec space;
  const auto n = state.range(0);
  const kastor::Image<T, Exec> image("bench::image", n, n);
  kastor::simulate_diracs<Exec, T>(space, 16, image);
  const Kokkos::View<T*, typename Exec::memory_space> taps("bench::taps", 15);
  Kokkos::deep_copy(taps, T(0.25));
  const auto length = static_cast<std::size_t>(n * n);
  const Kokkos::View<T*, typename Exec::memory_space> result("bench::result", length + 14);
  const kastor::ConstSignal<T, Exec> signal(image.data(), length);
  ts::time_on_image<Exec, T>(state, space, image, [&] {
    kastor::convolve_signal_into<Exec, T>(space, signal, taps, result);
  });
}

#define KASTOR_REGISTER(EXEC, T)                                                                   \
  ts::register_on_sizes<EXEC, T>("copy", bm_copy<EXEC, T>);                                        \
  ts::register_on_sizes<EXEC, T>("convolve_separable",                                             \
                                 bm_convolve<EXEC, T, ConvolveMethod::separable>);                 \
  ts::register_on_sizes<EXEC, T>("convolve_direct", bm_convolve<EXEC, T, ConvolveMethod::direct>); \
  ts::register_on_sizes<EXEC, T>("convolve_signal", bm_convolve_signal<EXEC, T>);

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
