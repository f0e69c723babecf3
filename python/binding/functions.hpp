// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_FUNCTIONS_HPP
#define KASTOR_PYTHON_FUNCTIONS_HPP

#include <nanobind/nanobind.h>

namespace kastor::python {

/// Adds the functions on arrays: clip, background, labels, convolution.
void add_functions(nanobind::module_& module);

/// Adds `run`, which runs a subcommand and returns what it prints.
void add_command(nanobind::module_& module);

}  // namespace kastor::python

#endif
