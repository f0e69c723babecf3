// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_RECORDED_EVENTS_HPP
#define KASTOR_TESTS_RECORDED_EVENTS_HPP

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <kastor/background.hpp>
#include <string>
#include <vector>

/// What Kokkos does during a call, watched through the callbacks of Kokkos Tools.
namespace testing_support {

namespace tools = Kokkos::Tools::Experimental;

enum class What { kernel, region, fence, allocation };

struct Event {
  What what;
  std::string label;
  std::uint32_t device = 0;  ///< of kernels and fences
};

inline const char* name_of(What what) {
  constexpr const char* names[] = {"kernel", "region", "fence", "allocation"};
  return names[static_cast<int>(what)];
}

inline std::vector<Event>* recorded = nullptr;

/// Records what happens during its life; whatever tool was there before comes back after it.
class Recorder {
 public:
  Recorder() : m_before(tools::get_callbacks()) {
    recorded = &m_events;
    const auto on_kernel = [](const char* label, std::uint32_t device, std::uint64_t*) {
      recorded->push_back({What::kernel, label, device});
    };
    tools::set_begin_parallel_for_callback(on_kernel);
    tools::set_begin_parallel_reduce_callback(on_kernel);
    tools::set_begin_parallel_scan_callback(on_kernel);
    tools::set_begin_fence_callback([](const char* label, std::uint32_t device, std::uint64_t*) {
      // Kokkos adds one before every callback, on behalf of the tool.
      if (std::strstr(label, "Kokkos Profile Tool Fence") != nullptr) return;
      recorded->push_back({What::fence, label, device});
    });
    tools::set_push_region_callback([](const char* label) {
      recorded->push_back({What::region, label});
    });
    tools::set_allocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          // Kokkos' team policies on a GPU ask for a scratch pool of 0 bytes at every launch.
          if (size > 0) recorded->push_back({What::allocation, label});
        });
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

inline bool starts_with(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

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

inline void expect_no_allocation(const std::vector<Event>& events, const std::string& call) {
  for (const Event& event : events) {
    EXPECT_NE(event.what, What::allocation) << call << " allocates \"" << event.label << "\"";
  }
}

template <class Exec>
Exec instance_of_its_own() {
  return Kokkos::Experimental::partition_space(Exec{}, 1)[0];
}

[[nodiscard]] inline int count_of(const std::vector<Event>& events, What what) {
  int count = 0;
  for (const Event& event : events) count += event.what == what ? 1 : 0;
  return count;
}

/// For islands, without the work of estimating one.
template <class C>
kastor::Background<typename C::exec, typename C::real> mesh_background() {
  using Exec = typename C::exec;
  const kastor::Image<kastor::MeshNode, Exec> nodes("test::nodes", 5, 7);
  Kokkos::deep_copy(nodes, kastor::MeshNode{0.004, 0, 0, 0});
  return {0.0, kastor::MeshSurface<Exec>{64, 64, true, nodes}};
}

}  // namespace testing_support

#endif
