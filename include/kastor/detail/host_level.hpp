// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_DETAIL_HOST_LEVEL_HPP
#define KASTOR_DETAIL_HOST_LEVEL_HPP

/// Whether the compiler can compile single functions for AVX2 and AVX-512.
#if defined(KASTOR_HAS_X86_LEVELS)  // said by hand, to try what other machines run
#elif defined(__x86_64__) && defined(__GNUC__)
#define KASTOR_HAS_X86_LEVELS 1
#else
#define KASTOR_HAS_X86_LEVELS 0
#endif

namespace kastor::detail {

/// The instruction sets that the hot loops of hosts are compiled for, so that a package built for
/// any x86-64 is not slower than one built for the machine. The bits are the same at every level.
enum class HostLevel { baseline, avx2, avx512 };

/// The best that this machine has.
[[nodiscard]] HostLevel best_host_level();

}  // namespace kastor::detail

#endif
