// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_NOINLINE_HPP
#define KASTOR_CORE_NOINLINE_HPP

/// Before a large function that several kernels call: the device compiler would inline it into each
/// of them, which takes minutes.
#define KASTOR_NOINLINE __attribute__((noinline))

#endif
