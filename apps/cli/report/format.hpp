// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_FORMAT_HPP
#define KASTOR_APPS_CLI_REPORT_FORMAT_HPP

// Include this file instead of fmt's. fmt 9 assumes that nvcc has no constexpr, which does not
// compile in C++20, and the front end of nvcc 13.0 cannot evaluate the compile-time check of format
// strings. The other compilers check them.
#if defined(__NVCC__)
#ifndef FMT_USE_CONSTEXPR
#define FMT_USE_CONSTEXPR 1
#endif
#ifndef FMT_CONSTEVAL
#define FMT_CONSTEVAL
#endif
#endif
#include <fmt/format.h>

#endif
