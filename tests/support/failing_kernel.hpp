// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_SUPPORT_FAILING_KERNEL_HPP
#define KASTOR_TESTS_SUPPORT_FAILING_KERNEL_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace testing_support {

namespace tools = Kokkos::Tools::Experimental;

/// While it lives, a parallel_for of a label throws before it begins, as a tool of Kokkos may.
class FailingKernel {
 public:
  explicit FailingKernel(const char* label) : m_before(tools::get_callbacks()) {
    failing() = label;
    tools::set_begin_parallel_for_callback(throw_if_it_is_that);
  }
  ~FailingKernel() { tools::set_callbacks(m_before); }
  FailingKernel(const FailingKernel&) = delete;
  FailingKernel& operator=(const FailingKernel&) = delete;

 private:
  static const char*& failing() {
    static const char* label = nullptr;
    return label;
  }
  static void throw_if_it_is_that(const char* label, std::uint32_t, std::uint64_t*) {
    if (std::strcmp(label, failing()) == 0) throw std::runtime_error("stopped");
  }
  tools::EventSet m_before;
};

}  // namespace testing_support

#endif
