// SPDX-License-Identifier: Apache-2.0
#include "binding/tables.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "binding/arrays.hpp"

namespace kastor::python {
namespace {

nb::object values_of(const io::TableColumn& column) {
  return std::visit(
      [](const auto& values) -> nb::object {
        using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
        if constexpr (std::is_same_v<Value, std::string>) {
          return nb::cast(values);
        } else {
          return as_array(values);
        }
      },
      column.values);
}

}  // namespace

nb::dict as_dict(const io::Table& table) {
  nb::list columns;
  for (const auto& column : table.columns) {
    nb::dict one;
    one["name"] = column.name;
    one["unit"] = column.unit;
    one["ucd"] = column.ucd;
    one["description"] = column.description;
    one["values"] = values_of(column);
    columns.append(one);
  }
  nb::list cards;
  for (const auto& card : table.cards) {
    const auto value = std::visit([](const auto& held) { return nb::cast(held); }, card.value);
    cards.append(nb::make_tuple(card.keyword, value, card.comment));
  }
  nb::dict dict;
  dict["name"] = table.name;
  dict["description"] = table.description;
  dict["columns"] = columns;
  dict["cards"] = cards;
  return dict;
}

}  // namespace kastor::python
