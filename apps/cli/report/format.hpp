// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_FORMAT_HPP
#define KASTOR_APPS_CLI_REPORT_FORMAT_HPP

// fmt 9 takes nvcc for a compiler without constexpr, which no longer holds together in C++20, and
// the front end of nvcc 13.0 cannot evaluate the compile-time check of format strings; the other
// compilers check them. Include this file instead of fmt's.
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
