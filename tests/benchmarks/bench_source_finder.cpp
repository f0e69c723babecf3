// SPDX-License-Identifier: Apache-2.0
#include <kastor/measure.hpp>
#include <kastor/source_finder.hpp>

#include "benchmarks.hpp"

namespace {

namespace ts = testing_support;

/// The measuring alone, on the components of the sky.
template <class Exec, class T>
void bm_measure(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  kastor::SourceFinder<Exec, T> find(space);
  (void)find(sky);
  kastor::Measurer<Exec, T> measure(space);
  ts::time_on_image<Exec, T>(state, space, sky, [&] { (void)measure(sky, find.labels()); });
  state.counters["sources"] = static_cast<double>(find.labels().components);
}

/// The whole job, from the image on the device to the rows on the host.
template <class Exec, class T>
void bm_find_sources(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  kastor::FindParams params;
  kastor::SourceFinder<Exec, T> find(space, params);
  ts::time_on_image<Exec, T>(state, space, sky, [&] { benchmark::DoNotOptimize(find(sky)); });
  state.counters["sources"] = static_cast<double>(find.labels().components);
}

/// The same from an image in the host's (pageable) memory.
template <class Exec, class T>
void bm_find_sources_with_upload(benchmark::State& state) {
  const Exec space;
  const kastor::ConstImage<T, Exec> sky = ts::simulated_sky<Exec, T>(state.range(0));
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, sky);
  const kastor::Image<T, Exec> image(
      Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::benchmarks::upload"),
      sky.extent(0), sky.extent(1));
  kastor::SourceFinder<Exec, T> find(space);
  ts::time_on_image<Exec, T>(state, space, sky, [&] {
    Kokkos::deep_copy(space, image, host);
    benchmark::DoNotOptimize(find(image));
  });
}

template <class Exec, class T>
void register_upload() {
  if constexpr (!kastor::is_host_space_v<Exec>) {
    ts::register_on_sizes<Exec, T>("find_sources_with_upload",
                                   bm_find_sources_with_upload<Exec, T>);
  }
}

#define KASTOR_REGISTER(EXEC, T)                                            \
  ts::register_on_sizes<EXEC, T>("measure", bm_measure<EXEC, T>);           \
  ts::register_on_sizes<EXEC, T>("find_sources", bm_find_sources<EXEC, T>); \
  register_upload<EXEC, T>();

[[maybe_unused]] const bool registered = [] {
  KASTOR_FOR_EACH_EXEC_AND_REAL(KASTOR_REGISTER)
  return true;
}();

}  // namespace
