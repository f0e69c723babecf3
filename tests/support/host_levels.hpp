// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_TESTS_HOST_LEVELS_HPP
#define KASTOR_TESTS_HOST_LEVELS_HPP

#include <kastor/detail/host_level.hpp>
#include <vector>

namespace testing_support {

/// The vector instructions that this machine has, from none on.
[[nodiscard]] inline std::vector<kastor::detail::HostLevel> host_levels() {
  using kastor::detail::HostLevel;
  std::vector<HostLevel> all{HostLevel::baseline, HostLevel::avx2, HostLevel::avx512};
  std::erase_if(all, [](HostLevel l) { return l > kastor::detail::best_host_level(); });
  return all;
}

}  // namespace testing_support

#endif
