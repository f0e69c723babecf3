// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_ALLOCATIONS_HPP
#define KASTOR_TESTS_ALLOCATIONS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace testing_support {

/// The labels of what Kokkos allocates during its life; whatever tool was there before comes back
/// after it. One at a time.
class Allocations {
 public:
  Allocations() : m_before(Kokkos::Tools::Experimental::get_callbacks()) {
    labels() = {};
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](Kokkos::Profiling::SpaceHandle, const char* label, const void*, std::uint64_t size) {
          // Kokkos' team policies on a GPU ask for a scratch pool of 0 bytes at every launch.
          if (size > 0) labels().emplace_back(label);
        });
  }
  ~Allocations() { Kokkos::Tools::Experimental::set_callbacks(m_before); }
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  [[nodiscard]] std::size_t count() const { return labels().size(); }
  [[nodiscard]] static std::vector<std::string>& labels() {
    static std::vector<std::string> all;
    return all;
  }

 private:
  Kokkos::Tools::Experimental::EventSet m_before;
};

}  // namespace testing_support

#endif
