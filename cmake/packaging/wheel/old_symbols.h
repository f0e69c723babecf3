// SPDX-License-Identifier: Apache-2.0
// Included before every source of a wheel: asks for the first versions of two symbols, so that the wheel runs on every Linux
// with glibc 2.34 (RHEL 9, Ubuntu 22.04). Both do the same as the newest versions.
#if defined(__x86_64__)
__asm__(".symver hypot,hypot@GLIBC_2.2.5");
__asm__(".symver _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE,"
        "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");
#endif
