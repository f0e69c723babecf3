// SPDX-License-Identifier: Apache-2.0
#include <kastor/detail/host_level.hpp>

namespace kastor::detail {

HostLevel best_host_level() {
#if KASTOR_HAS_X86_LEVELS
  static const HostLevel best = [] {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
      return HostLevel::avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") ? HostLevel::avx2
                                                                           : HostLevel::baseline;
  }();
  return best;
#else
  return HostLevel::baseline;
#endif
}

}  // namespace kastor::detail
