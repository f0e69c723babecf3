// SPDX-License-Identifier: Apache-2.0

// What other codes that share the process may rely on: every kernel, region, fence and allocation
// of Kastor is named after it, nothing runs outside the instance that was given, and plans allocate
// once. Watched through the callbacks of Kokkos Tools.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <kastor/kastor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "recorded_events.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
using ts::Event, ts::What;
using ts::events_of, ts::expect_labels_of_kastor, ts::expect_no_allocation,
    ts::expect_only_the_instance, ts::instance_of_its_own, ts::mesh_background, ts::starts_with;

/// Both routes of the clip: a small image and one large enough for the brackets.
struct Shape {
  std::int64_t ny;
  std::int64_t nx;
};
constexpr Shape shapes[] = {{90, 131}, {1100, 1000}};

/// Everything that a plan object of Kastor must keep to, for one object and one image.
/// `make()` gives the object, `run(object)` calls it.
template <class Exec, class Make, class Run>
void plan_keeps_the_contract(const Exec& instance, const std::string& name, const Make& make,
                             const Run& run) {
  decltype(make()) plan;
  const auto first = events_of([&] {
    plan = make();
    run(*plan);
  });
  expect_labels_of_kastor<Exec>(first, name + ", first call");
  expect_only_the_instance(first, instance, name + ", first call", false);
  const auto second = events_of([&] { run(*plan); });
  expect_labels_of_kastor<Exec>(second, name + ", second call");
  expect_only_the_instance(second, instance, name + ", second call", true);
  expect_no_allocation(second, name + ", second call");
}

/// An image of sources and noise.
template <class C>
auto some_image() {
  return ts::to_device<typename C::exec>(
      ts::make_image<typename C::real>(ts::Pixels::contaminated, 300, 401, 1));
}

template <class T>
class Policy : public ::testing::Test {};
TYPED_TEST_SUITE(Policy, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Policy, SigmaClipperLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Clipper = kastor::SigmaClipper<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  for (const Shape shape : shapes) {
    for (const ts::Pixels kind :
         {ts::Pixels::contaminated, ts::Pixels::narrow_integers, ts::Pixels::cauchy}) {
      const auto image = ts::to_device<Exec>(ts::make_image<T>(kind, shape.ny, shape.nx, 1));
      const auto bands = ts::split_into_bands<Exec, T>(image, 3);
      const std::string name = std::string("SigmaClipper on ") + ts::name_of(kind) + ' ' +
                               ts::shape_name(shape.ny, shape.nx);
      const auto make = [&] { return std::make_unique<Clipper>(instance); };
      plan_keeps_the_contract(instance, name, make, [&](Clipper& clip) { (void)clip(image); });
      plan_keeps_the_contract(instance, name + " in bands", make,
                              [&](Clipper& clip) { (void)clip(bands); });
    }
  }
}

TYPED_TEST(Policy, LabellerLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using Labeller = kastor::Labeller<Exec>;
  const Exec instance = instance_of_its_own<Exec>();
  struct Case {
    std::int64_t ny, nx;
    double density;
  };
  for (const auto& [ny, nx, density] :
       {Case{300, 401, 0.0}, Case{300, 401, 0.02}, Case{300, 401, 0.6}, Case{64, 64, 0.5}}) {
    const auto mask = ts::to_device_mask<Exec>(ts::random_mask(ny, nx, density, 1));
    for (const kastor::LabelParams params :
         {kastor::LabelParams{}, kastor::LabelParams{kastor::Connectivity::eight, 3}}) {
      plan_keeps_the_contract(
          instance, "Labeller", [&] { return std::make_unique<Labeller>(instance, params); },
          [&](Labeller& label) { (void)label(mask); });
    }
  }
}

TYPED_TEST(Policy, MeasurerLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Measurer = kastor::Measurer<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto labels = kastor::label(instance, kastor::threshold(instance, image, 0.03));
  const auto make = [&] { return std::make_unique<Measurer>(instance); };
  plan_keeps_the_contract(instance, "Measurer", make,
                          [&](Measurer& measure) { (void)measure(image, labels); });
  plan_keeps_the_contract(instance, "Measurer in bands", make,
                          [&](Measurer& measure) { (void)measure(bands, labels); });
}

TYPED_TEST(Policy, PhotometersLabelTheirWorkStayOnTheirInstanceAndAllocateOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Apertures = kastor::AperturePhotometer<Exec, T>;
  using Forced = kastor::ForcedPhotometer<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const kastor::Background<Exec, T> background{0.0, 0.02};
  const std::vector<kastor::AperturePosition> centres = {{30, 40}, {399, 299}, {-5, 7}};
  plan_keeps_the_contract(
      instance, "AperturePhotometer",
      [&] {
        return std::make_unique<Apertures>(instance, std::vector<double>{2, 5.5});
      },
      [&](Apertures& measure) { (void)measure(image, background, centres); });
  const std::vector<kastor::ForcedPosition> positions = {
      {30, 40, {}}, {33, 41, {}}, {399, 299, {}}, {-5, 7, {}}};
  for (const auto free : {kastor::FreeParameters::flux, kastor::FreeParameters::shape}) {
    plan_keeps_the_contract(
        instance, "ForcedPhotometer",
        [&] {
          return std::make_unique<Forced>(instance, kastor::ForcedParams{{5, 4, 0.5}, 20, free});
        },
        [&](Forced& measure) { (void)measure(bands, background, positions); });
  }
}

TYPED_TEST(Policy, ConvolverLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Convolver = kastor::Convolver<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const kastor::Image<T, Exec> result("test::result", 300, 401);
  const kastor::ConvolutionKernel flat{4, 9, std::vector<double>(36, 0.5)};
  for (const auto method : {kastor::ConvolveMethod::direct, kastor::ConvolveMethod::separable}) {
    for (const auto nan : {kastor::NanTreatment::propagate, kastor::NanTreatment::interpolate}) {
      for (const auto& kernel : {kastor::gaussian_kernel(1.0), flat}) {
        plan_keeps_the_contract(
            instance, "Convolver",
            [&] {
              return std::make_unique<Convolver>(
                  instance, kernel,
                  kastor::ConvolveParams{kastor::ConvolveMode::same, method, nan});
            },
            [&](Convolver& convolve) { convolve(image, result); });
      }
    }
  }
  instance.fence("test::convolver");
}

TYPED_TEST(Policy, SourceFinderLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Finder = kastor::SourceFinder<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  for (const Shape shape : shapes) {
    const auto image =
        ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, shape.ny, shape.nx, 1));
    const auto bands = ts::split_into_bands<Exec, T>(image, 3);
    const std::string name = "SourceFinder " + ts::shape_name(shape.ny, shape.nx);
    const auto make = [&] { return std::make_unique<Finder>(instance); };
    plan_keeps_the_contract(instance, name, make, [&](Finder& find) { (void)find(image); });
    plan_keeps_the_contract(instance, name + " in bands", make,
                            [&](Finder& find) { (void)find(bands); });
  }
}

TYPED_TEST(Policy, IslandFinderLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Finder = kastor::IslandFinder<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto background = mesh_background<TypeParam>();
  for (const bool negative : {false, true}) {
    kastor::IslandParams params;
    params.negative = negative;
    const auto make = [&] { return std::make_unique<Finder>(instance, params); };
    plan_keeps_the_contract(instance, "IslandFinder", make,
                            [&](Finder& find) { (void)find(image, background); });
    plan_keeps_the_contract(instance, "IslandFinder in bands", make,
                            [&](Finder& find) { (void)find(bands, background); });
    plan_keeps_the_contract(instance, "IslandFinder without a copy", make,
                            [&](Finder& find) { (void)find.find(image, background); });
  }
}

TYPED_TEST(Policy, DeblenderLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Deblender = kastor::Deblender<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto background = mesh_background<TypeParam>();
  kastor::IslandParams find;
  find.seed = find.flood = 0.5;
  kastor::IslandFinder<Exec, T> finder(instance, find);
  const auto found = finder(image, background);
  for (const double contrast : {0.0, 0.01}) {
    kastor::DeblendParams params;
    params.contrast = contrast;
    const auto make = [&] { return std::make_unique<Deblender>(instance, params); };
    plan_keeps_the_contract(instance, "Deblender", make, [&](Deblender& deblend) {
      EXPECT_GT(deblend.peaks(image, background, found.islands, finder.labels()).size(),
                found.islands.size());
      (void)deblend.children(image, background);
    });
    plan_keeps_the_contract(instance, "Deblender in bands", make, [&](Deblender& deblend) {
      (void)deblend.peaks(bands, background, found.islands, finder.labels());
      (void)deblend.children(bands, background);
    });
  }
}

TYPED_TEST(Policy, ComponentFitterLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Fitter = kastor::ComponentFitter<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto background = mesh_background<TypeParam>();
  // The highest alone: thousands of fits are slow with sanitizers.
  kastor::IslandFinder<Exec, T> find(instance, {.seed = 400, .flood = 20});
  const auto found = find(image, background);
  ASSERT_GT(found.islands.size(), 20U);
  kastor::FitParams params;
  params.beam = kastor::PixelEllipse{5, 4, 0.3};
  const auto make = [&] { return std::make_unique<Fitter>(instance, params); };
  plan_keeps_the_contract(instance, "ComponentFitter", make, [&](Fitter& fit) {
    (void)fit(image, background, found.islands, find.labels(), {});
  });
  plan_keeps_the_contract(instance, "ComponentFitter in bands", make, [&](Fitter& fit) {
    (void)fit(bands, background, found.islands, find.labels(), {});
  });
}

TYPED_TEST(Policy, ArtefactNoiseLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  using Noise = kastor::ArtefactNoise<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto background = mesh_background<TypeParam>();
  std::vector<kastor::Island> islands(1);
  islands[0].y_peak = islands[0].x_peak = 100;
  islands[0].snr_peak = 300;
  const auto make = [&] { return std::make_unique<Noise>(instance); };
  plan_keeps_the_contract(instance, "ArtefactNoise", make,
                          [&](Noise& raise) { (void)raise(image, background, islands); });
  plan_keeps_the_contract(instance, "ArtefactNoise in bands", make,
                          [&](Noise& raise) { (void)raise(bands, background, islands); });
}

/// The functions that own no plan: their work space may come and go, the rest holds.
TYPED_TEST(Policy, FreeFunctionsLabelTheirWorkAndStayOnTheirInstance) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto check = [&](const std::string& name, const auto& call) {
    const auto events = events_of(call);
    expect_labels_of_kastor<Exec>(events, name);
    expect_only_the_instance(events, instance, name, false);
  };
  check("statistics", [&] { (void)kastor::statistics(instance, image); });
  check("sigma_clip", [&] { (void)kastor::sigma_clip(instance, image); });
  check("find_sources", [&] { (void)kastor::find_sources(instance, image); });

  kastor::BitMask<Exec> mask;
  check("threshold", [&] { mask = kastor::threshold(instance, image, 0.03); });
  check("count_foreground", [&] { (void)kastor::count_foreground(instance, mask); });
  auto mosaic = ts::make_image<T>(ts::Pixels::gaussian, 300, 401, 1);
  std::fill(mosaic.values.begin(), mosaic.values.begin() + 200 * 401, T{0});
  const auto padded = ts::to_device<Exec>(mosaic);
  std::vector<kastor::FillValue> fill;
  check("find_constant_fill", [&] { fill = kastor::find_constant_fill(instance, padded); });
  EXPECT_EQ(fill.size(), 1u);
  const auto excluded = kastor::threshold(instance, image, 1e9);
  check("exclude_fill", [&] { kastor::exclude_fill(instance, padded, fill, mask, excluded); });
  kastor::RunLabels<Exec> labels;
  check("label", [&] { labels = kastor::label(instance, mask); });
  check("measure", [&] { (void)kastor::measure(instance, image, labels); });
  const kastor::Image<std::int32_t, Exec> narrow("test::labels", 300, 401);
  const kastor::Image<std::int64_t, Exec> wide("test::labels", 300, 401);
  check("write_labels of int32", [&] { kastor::write_labels(instance, labels, narrow); });
  check("write_labels of int64", [&] { kastor::write_labels(instance, labels, wide); });

  kastor::SkyParams params;
  params.ny = 300;
  params.nx = 401;
  const auto truth = kastor::sky_truth(params);
  check("simulate_sky", [&] { kastor::simulate_sky<Exec, T>(instance, params, truth, image); });
  check("convolve", [&] { (void)kastor::convolve(instance, image, kastor::gaussian_kernel(1.0)); });
  const Kokkos::View<T*, typename Exec::memory_space> signal("test::signal", 1000);
  check("convolve, 1-D", [&] { (void)kastor::convolve(instance, signal, signal); });
  check("simulate_diracs", [&] { kastor::simulate_diracs<Exec, T>(instance, 16, image); });

  const kastor::PrimeFlags<Exec> flags("test::flags", 1000);
  check("mark_primes", [&] { kastor::mark_primes(instance, flags); });
  check("primes_up_to", [&] { (void)kastor::primes_up_to(instance, 1000); });
  instance.fence("test::free_functions");
}

/// Functions that only fill Views leave the fence to the caller.
TYPED_TEST(Policy, FunctionsThatFillViewsDoNotFence) {
  using Exec = typename TypeParam::exec;
  using T = typename TypeParam::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = some_image<TypeParam>();
  const auto mask = kastor::make_bit_mask(instance, 300, 401);
  kastor::threshold_into<Exec, T>(instance, image, 0.03, mask);
  const auto excluded = kastor::threshold(instance, image, 0.2);
  const auto labels = kastor::label(instance, mask);
  kastor::Measurer<Exec, T> measurer(instance);
  (void)measurer(image, labels);
  const kastor::Image<std::int32_t, Exec> dense("test::labels", 300, 401);
  kastor::Convolver<Exec, T> convolver(instance, kastor::gaussian_kernel(1.0),
                                       {kastor::ConvolveMode::same});
  const kastor::Image<T, Exec> smooth("test::smooth", 300, 401);
  convolver(image, smooth);
  const Kokkos::View<T*, typename Exec::memory_space> signal("test::signal", 100);
  const Kokkos::View<T*, typename Exec::memory_space> smooth_signal("test::signal", 199);
  const kastor::PrimeFlags<Exec> flags("test::flags", 1000);
  const auto events = events_of([&] {
    kastor::threshold_into<Exec, T>(instance, image, 0.03, mask);
    kastor::exclude_fill<Exec>(instance, image, {{0, 0, 0}, {1, 2, 0}}, mask, excluded);
    kastor::write_labels(instance, labels, dense);
    (void)measurer(image, labels);
    kastor::simulate_diracs<Exec, T>(instance, 16, image);
    convolver(image, smooth);
    kastor::convolve_signal_into<Exec, T>(instance, signal, signal, smooth_signal);
    kastor::mark_primes(instance, flags);
  });
  for (const Event& event : events) {
    EXPECT_FALSE(event.what == What::fence && starts_with(event.label, "kastor::")) << event.label;
  }
  expect_no_allocation(events,
                       "threshold_into, exclude_fill, write_labels, Measurer, simulate_diracs, "
                       "Convolver, mark_primes");
  instance.fence("test::functions_that_fill_views");
}

}  // namespace
