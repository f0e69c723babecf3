// SPDX-License-Identifier: Apache-2.0
#include "find/shown_table.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "cli/report/format.hpp"
#include "cli/report/report_parts.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

std::string shown_value(const ShownColumn& shown, const io::TableColumn& column, std::size_t row) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&column.values))
    return one_line((*texts)[row]);
  return fmt::format(fmt::runtime(shown.format), number_of(column, row));
}

std::string units_of(const io::Table& table, const std::vector<ShownColumn>& columns) {
  std::string units;
  for (const auto& each : columns) {
    const std::string& unit = column_of(table, each.name)->unit;
    if (!unit.empty() && each.names_unit)
      units += (units.empty() ? "" : ", ") + fmt::format("{} [{}]", each.heading, unit);
  }
  return one_line(units);
}

}  // namespace

const io::TableColumn* column_of(const io::Table& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const auto& each) { return each.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

double number_of(const io::TableColumn& column, std::size_t row) {
  return std::visit(
      [row](const auto& values) -> double {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (std::is_arithmetic_v<Value>) {
          return static_cast<double>(values[row]);
        } else {
          return std::nan("");
        }
      },
      column.values);
}

std::string table_text(const io::Table& table, const std::vector<ShownColumn>& columns,
                       std::size_t most, const std::string& brightest, const std::string& all) {
  const auto& peaks = std::get<std::vector<double>>(column_of(table, "flux_peak")->values);
  const auto order = brightest_rows(
      peaks.size(),
      [&](std::size_t row) {
        const double value = std::abs(peaks[row]);  // includes what lies below the background
        return std::isnan(value) ? -1.0 : value;
      },
      most);
  std::string text =
      "\n" +
      (order.size() < peaks.size() ? fmt::format("the {} {}", order.size(), brightest) : all);
  text += "; " + units_of(table, columns) + "\n\n";
  for (const auto& each : columns) text += fmt::format(" {:>{}}", each.heading, each.width);
  text += "\n";
  for (const auto row : order) {
    for (const auto& each : columns) {
      text +=
          fmt::format(" {:>{}}", shown_value(each, *column_of(table, each.name), row), each.width);
    }
    text += "\n";
  }
  return text;
}

}  // namespace kastor::cli
