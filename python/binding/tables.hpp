// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PYTHON_TABLES_HPP
#define KASTOR_PYTHON_TABLES_HPP

#include <nanobind/nanobind.h>

#include <kastor/io/table.hpp>

namespace kastor::python {

namespace nb = nanobind;

/// A table as a dict: "name", "description", "columns" (a list of dicts with "name", "unit", "ucd",
/// "description" and "values", an array or a list of strings) and "cards" (name, value, comment).
[[nodiscard]] nb::dict as_dict(const io::Table& table);

}  // namespace kastor::python

#endif
