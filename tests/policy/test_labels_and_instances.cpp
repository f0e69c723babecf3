// SPDX-License-Identifier: Apache-2.0

// What other codes that share the process may rely on: every kernel, region, fence and allocation
// of Kastor is named after it, nothing runs outside the instance that was given, and plans allocate
// once. Watched through the callbacks of Kokkos Tools.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <kastor/detail/source_rows.hpp>
#include <kastor/kastor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "device.hpp"
#include "generators.hpp"
#include "naive.hpp"
#include "typed.hpp"

namespace {

namespace ts = testing_support;
namespace tools = Kokkos::Tools::Experimental;

enum class What { kernel, region, fence, allocation };

struct Event {
  What what;
  std::string label;
  std::uint32_t device = 0;  ///< of kernels and fences
};

const char* name_of(What what) {
  switch (what) {
    case What::kernel:
      return "kernel";
    case What::region:
      return "region";
    case What::fence:
      return "fence";
    case What::allocation:
      return "allocation";
  }
  return "?";
}

std::vector<Event>* recorded = nullptr;

void on_kernel(const char* label, std::uint32_t device, std::uint64_t*) {
  recorded->push_back({What::kernel, label, device});
}
void on_fence(const char* label, std::uint32_t device, std::uint64_t*) {
  // Kokkos adds one before every callback, on behalf of the tool.
  if (std::strstr(label, "Kokkos Profile Tool Fence") != nullptr) return;
  recorded->push_back({What::fence, label, device});
}
void on_region(const char* label) { recorded->push_back({What::region, label}); }
void on_allocation(Kokkos::Profiling::SpaceHandle, const char* label, const void*,
                   std::uint64_t size) {
  // Kokkos' team policies on a GPU ask for a scratch pool of 0 bytes at every launch.
  if (size > 0) recorded->push_back({What::allocation, label});
}

/// Records what happens during its life; whatever tool was there before comes back after it.
class Recorder {
 public:
  Recorder() : m_before(tools::get_callbacks()) {
    recorded = &m_events;
    tools::set_begin_parallel_for_callback(on_kernel);
    tools::set_begin_parallel_reduce_callback(on_kernel);
    tools::set_begin_parallel_scan_callback(on_kernel);
    tools::set_begin_fence_callback(on_fence);
    tools::set_push_region_callback(on_region);
    tools::set_allocate_data_callback(on_allocation);
  }
  ~Recorder() {
    tools::set_callbacks(m_before);
    recorded = nullptr;
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] const std::vector<Event>& events() const { return m_events; }

 private:
  tools::EventSet m_before;
  std::vector<Event> m_events;
};

template <class Call>
std::vector<Event> events_of(const Call& call) {
  const Recorder recorder;
  call();
  return recorder.events();
}

bool starts_with(const std::string& text, const char* start) { return text.rfind(start, 0) == 0; }

/// Kokkos names its own work `Kokkos::...`, but the fences of its memory spaces `HostSpace ...`.
template <class Exec>
bool is_named_by_kokkos(const Event& event) {
  if (starts_with(event.label, "Kokkos::")) return true;
  return event.what == What::fence && (starts_with(event.label, Kokkos::HostSpace::name()) ||
                                       starts_with(event.label, Exec::memory_space::name()));
}

template <class Exec>
void expect_labels_of_kastor(const std::vector<Event>& events, const std::string& call) {
  int named_by_kastor = 0;
  for (const Event& event : events) {
    const bool ours = starts_with(event.label, "kastor::");
    named_by_kastor += ours ? 1 : 0;
    EXPECT_TRUE(ours || is_named_by_kokkos<Exec>(event))
        << call << ": a " << name_of(event.what) << " is called \"" << event.label << "\"";
  }
  EXPECT_GT(named_by_kastor, 0) << call;
}

/// `fences_too`: Kokkos itself fences all instances when it allocates on some backends, so that is
/// asked only of calls that allocate nothing.
template <class Exec>
void expect_only_the_instance(const std::vector<Event>& events, const Exec& instance,
                              const std::string& call, bool fences_too) {
  const std::uint32_t device = tools::device_id(instance);
  for (const Event& event : events) {
    const bool ours = starts_with(event.label, "kastor::");
    const bool asked =
        event.what == What::kernel || (event.what == What::fence && (ours || fences_too));
    if (!asked) continue;
    EXPECT_EQ(event.device, device) << call << ": the " << name_of(event.what) << " \""
                                    << event.label << "\" is on another instance";
  }
}

void expect_no_allocation(const std::vector<Event>& events, const std::string& call) {
  for (const Event& event : events) {
    EXPECT_NE(event.what, What::allocation) << call << " allocates \"" << event.label << "\"";
  }
}

template <class Exec>
Exec instance_of_its_own() {
  return Kokkos::Experimental::partition_space(Exec{}, 1)[0];
}

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

template <class C>
void sigma_clipper_keeps_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
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

template <class C>
void labeller_keeps_the_contract() {
  using Exec = typename C::exec;
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

template <class C>
void measurer_keeps_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
  using Measurer = kastor::Measurer<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto labels = kastor::label(instance, kastor::threshold(instance, image, 0.03));
  const auto make = [&] { return std::make_unique<Measurer>(instance); };
  plan_keeps_the_contract(instance, "Measurer", make,
                          [&](Measurer& measure) { (void)measure(image, labels); });
  plan_keeps_the_contract(instance, "Measurer in bands", make,
                          [&](Measurer& measure) { (void)measure(bands, labels); });
}

template <class C>
void convolver_keeps_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
  using Convolver = kastor::Convolver<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
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

template <class C>
void source_finder_keeps_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
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

[[nodiscard]] int count_of(const std::vector<Event>& events, What what) {
  int count = 0;
  for (const Event& event : events) count += event.what == what ? 1 : 0;
  return count;
}

template <class C>
kastor::Background<typename C::exec, typename C::real> mesh_background() {
  using Exec = typename C::exec;
  const Kokkos::View<kastor::MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space> nodes(
      "test::nodes", 5, 7);
  Kokkos::deep_copy(nodes, kastor::MeshNode{0.004, 0, 0, 0});
  return {0.0, kastor::MeshSurface<Exec>{64, 64, true, nodes}};
}

template <class C>
void island_finder_keeps_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
  using Finder = kastor::IslandFinder<Exec, T>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto bands = ts::split_into_bands<Exec, T>(image, 3);
  const auto background = mesh_background<C>();
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

/// The host waits once, for positive and negative islands alike.
template <class C>
void from_image_to_islands_there_is_one_fence() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto background = mesh_background<C>();
  for (const bool negative : {false, true}) {
    kastor::IslandParams params;
    params.negative = negative;
    kastor::IslandFinder<Exec, T> find(instance, params);
    (void)find(image, background);
    kastor::IslandResult result;
    const auto events = events_of([&] { result = find(image, background); });
    EXPECT_GT(result.islands.size(), 0U);
    EXPECT_EQ(count_of(events, What::fence), 1);
    // Two to mark, then for each side seven or less to label and four to measure.
    EXPECT_LE(count_of(events, What::kernel), 2 + (negative ? 2 : 1) * (7 + 4));
  }
}

/// Work space grows to the largest image seen, and then no more: a smaller image in between changes
/// nothing.
template <class C>
void a_smaller_image_costs_no_allocation() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto large =
      ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1));
  const auto small = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  kastor::SigmaClipper<Exec, T> clip(instance);
  kastor::SourceFinder<Exec, T> find(instance);
  (void)clip(large);
  (void)find(large);
  expect_no_allocation(events_of([&] { (void)clip(small); }), "SigmaClipper, smaller image");
  expect_no_allocation(events_of([&] { (void)clip(large); }), "SigmaClipper, largest image again");
  expect_no_allocation(events_of([&] { (void)find(small); }), "SourceFinder, smaller image");
  expect_no_allocation(events_of([&] { (void)find(large); }), "SourceFinder, largest image again");
}

/// Nor does another image of the size, if its lists are no longer: hosts sum long runs at once.
template <class C>
void an_image_of_long_runs_costs_no_allocation() {
  using Exec = typename C::exec;
  using T = typename C::real;
  if constexpr (kastor::is_host_space_v<Exec>) {
    const Exec instance = instance_of_its_own<Exec>();
    const auto sky = ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1);
    auto bars = sky;
    for (std::int64_t y = 5; y < bars.ny; y += 100) {
      for (std::int64_t x = 100; x < 900; ++x) bars(y, x) += T(50);
    }
    const auto first = ts::to_device<Exec>(sky), second = ts::to_device<Exec>(bars);
    kastor::FindParams params;
    params.level = 20;
    kastor::SourceFinder<Exec, T> find(instance, params);
    (void)find.find(first);
    kastor::FoundSources found;
    expect_no_allocation(events_of([&] { found = find.find(second); }), "SourceFinder, long runs");
    EXPECT_GE(found.sources.size(), 11U);
    EXPECT_GE(found.foreground_pixels, 16 * find.labels().runs) << "they are long in the mean";
  }
}

/// A device that has no room for the candidates of a crowd makes some, once.
template <class C>
void room_for_candidates_is_made_once() {
  using Exec = typename C::exec;
  using T = typename C::real;
  if constexpr (!kastor::is_host_space_v<Exec>) {
    const Exec instance = instance_of_its_own<Exec>();
    ts::HostImage<T> image(4096, 4096);
    ts::Random random(3);
    for (T& pixel : image.values) pixel = static_cast<T>(random.gaussian());
    constexpr std::int64_t of_eight = sizeof(T) == 4 ? 3 : 4;  // those of a tile are so many
    for (std::int64_t y = 1000; y < 1002; ++y) {
      for (std::int64_t x = 0; x < image.nx; ++x) image(y, x) += x % 8 < of_eight ? T(100) : T(0);
    }
    const auto on_device = ts::to_device<Exec>(image);
    kastor::FindParams params;
    params.threshold = 8;
    kastor::SourceFinder<Exec, T> find(instance, params);
    const auto lists = [](const std::vector<Event>& events) {
      return std::count_if(events.begin(), events.end(), [](const Event& event) {
        return event.what == What::allocation && event.label == "kastor::sigma_clip::candidates";
      });
    };
    EXPECT_EQ(lists(events_of([&] { (void)find(on_device); })), 2) << "the first, and more room";
    expect_no_allocation(events_of([&] { (void)find(on_device); }), "SourceFinder, crowd again");
  }
}

/// Each launch and each fence costs some microseconds, whatever the image: from a mask to rows on
/// the host there are few launches, and the host waits once.
template <class C>
void from_mask_to_rows_there_is_one_fence() {
  using Exec = typename C::exec;
  using T = typename C::real;
  constexpr bool on_host = kastor::is_host_space_v<Exec>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto mask = kastor::threshold(instance, image, 0.03);
  for (const std::int64_t min_pixels : {1, 3}) {
    kastor::detail::SourceRows<Exec, T> sources(
        instance, kastor::LabelParams{kastor::Connectivity::four, min_pixels});
    for (const std::int64_t split : {1, 8}) {
      const auto bands = ts::split_into_bands<Exec, T>(image, split);
      const auto once = [&] {
        sources.enqueue(bands, mask);
        instance.fence("kastor::test::rows");
        return sources.finish();
      };
      while (!once()) {
      }
      bool done = false;
      const auto events = events_of([&] { done = once(); });
      EXPECT_TRUE(done);
      EXPECT_GT(sources.rows().size(), 0U);
      EXPECT_EQ(count_of(events, What::fence), 1);
      EXPECT_EQ(count_of(events, What::allocation), 0);
      // Hosts add up the totals of their parts, and make the rows, in kernels of their own.
      EXPECT_LE(count_of(events, What::kernel), (on_host ? 9 : 7) + (min_pixels > 1 ? 1 : 0));
    }
  }
}

/// The functions that own no plan: their work space may come and go, the rest holds.
template <class C>
void free_functions_keep_the_contract() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
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
  kastor::RunLabels<Exec> labels;
  check("label", [&] { labels = kastor::label(instance, mask); });
  check("measure", [&] { (void)kastor::measure(instance, image, labels); });
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename Exec::memory_space> narrow(
      "test::labels", 300, 401);
  const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, typename Exec::memory_space> wide(
      "test::labels", 300, 401);
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
template <class C>
void functions_that_fill_views_do_not_fence() {
  using Exec = typename C::exec;
  using T = typename C::real;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image = ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 300, 401, 1));
  const auto mask = kastor::make_bit_mask(instance, 300, 401);
  kastor::threshold_into<Exec, T>(instance, image, 0.03, mask);
  const auto labels = kastor::label(instance, mask);
  kastor::Measurer<Exec, T> measurer(instance);
  (void)measurer(image, labels);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename Exec::memory_space> dense(
      "test::labels", 300, 401);
  kastor::Convolver<Exec, T> convolver(instance, kastor::gaussian_kernel(1.0),
                                       {kastor::ConvolveMode::same});
  const kastor::Image<T, Exec> smooth("test::smooth", 300, 401);
  convolver(image, smooth);
  const Kokkos::View<T*, typename Exec::memory_space> signal("test::signal", 100);
  const Kokkos::View<T*, typename Exec::memory_space> smooth_signal("test::signal", 199);
  const kastor::PrimeFlags<Exec> flags("test::flags", 1000);
  const auto events = events_of([&] {
    kastor::threshold_into<Exec, T>(instance, image, 0.03, mask);
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
  expect_no_allocation(
      events, "threshold_into, write_labels, Measurer, simulate_diracs, Convolver, mark_primes");
  instance.fence("test::functions_that_fill_views");
}

/// From the image to the rows: what a device is asked to do, the host waits for once. Two of the
/// launches are the zeroing of the mask and, unless the candidates hold, a second threshold.
template <class C>
void finding_takes_few_launches() {
  using Exec = typename C::exec;
  using T = typename C::real;
  constexpr bool on_host = kastor::is_host_space_v<Exec>;
  const Exec instance = instance_of_its_own<Exec>();
  const auto image =
      ts::to_device<Exec>(ts::make_image<T>(ts::Pixels::contaminated, 1100, 1000, 1));
  kastor::SourceFinder<Exec, T> find(instance);
  (void)find(image);
  const auto events = events_of([&] {
    const auto result = find(image);
    EXPECT_EQ(result.clip.route, kastor::ClipRoute::bracketed);
  });
  EXPECT_EQ(count_of(events, What::allocation), 0);
  EXPECT_LE(count_of(events, What::kernel), on_host ? 15 : 17);
  EXPECT_LE(count_of(events, What::fence), on_host ? 6 : 1);
}

template <class T>
class Policy : public ::testing::Test {};
TYPED_TEST_SUITE(Policy, ts::ExecsAndReals, ts::CaseName);

TYPED_TEST(Policy, SigmaClipperLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  sigma_clipper_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, LabellerLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  labeller_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, MeasurerLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  measurer_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, ConvolverLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  convolver_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, SourceFinderLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  source_finder_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, IslandFinderLabelsItsWorkStaysOnItsInstanceAndAllocatesOnce) {
  island_finder_keeps_the_contract<TypeParam>();
}

TYPED_TEST(Policy, FromImageToIslandsTheHostWaitsOnceForFewKernels) {
  from_image_to_islands_there_is_one_fence<TypeParam>();
}

TYPED_TEST(Policy, FindingSourcesTakesFewLaunches) { finding_takes_few_launches<TypeParam>(); }

TYPED_TEST(Policy, PlansDoNotAllocateForASmallerImage) {
  a_smaller_image_costs_no_allocation<TypeParam>();
}

TYPED_TEST(Policy, PlansDoNotAllocateForLongRuns) {
  an_image_of_long_runs_costs_no_allocation<TypeParam>();
}

TYPED_TEST(Policy, RoomForCandidatesIsMadeOnce) { room_for_candidates_is_made_once<TypeParam>(); }

TYPED_TEST(Policy, FromMaskToRowsTheHostWaitsOnceForFewKernels) {
  from_mask_to_rows_there_is_one_fence<TypeParam>();
}

TYPED_TEST(Policy, FreeFunctionsLabelTheirWorkAndStayOnTheirInstance) {
  free_functions_keep_the_contract<TypeParam>();
}

TYPED_TEST(Policy, FunctionsThatFillViewsDoNotFence) {
  functions_that_fill_views_do_not_fence<TypeParam>();
}

}  // namespace
