// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_MEASURED_HPP
#define KASTOR_PYTHON_MEASURED_HPP

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "binding/source.hpp"

namespace kastor::python {

/// Measures an image at the positions of a list. Returns the table, the report as JSON, and the
/// notes. \param arguments  of `kastor measure`, without the image
[[nodiscard]] nb::tuple measure(std::vector<std::string> arguments, const Source& source,
                                const Companions& companions, const std::optional<std::string>& on);

}  // namespace kastor::python

#endif
