// SPDX-License-Identifier: Apache-2.0
#include "io/evaluation/source_table.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>

#include "io/catalogue/chosen_columns.hpp"
#include "io/catalogue/pixel_places.hpp"
#include "io/evaluation/measured_columns.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

using Q = SourceQuantity;

/// The columns that this room knows, of the table from which the positions came.
std::vector<ColumnRequest> more_columns(const std::vector<TableColumn>& columns,
                                        const std::vector<std::string>& positions) {
  for (const auto& name : positions) {
    const auto is_it = [&](const TableColumn& column) { return column.name == name; };
    if (!name.empty() && std::none_of(columns.begin(), columns.end(), is_it)) return {};
  }
  std::vector<ColumnRequest> requests;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto upper = upper_case(columns[i].name);
    const bool is_number = std::holds_alternative<std::vector<double>>(columns[i].values) ||
                           std::holds_alternative<std::vector<std::int64_t>>(columns[i].values);
    // Names of islands tell which program wrote the table; they need not be numbers.
    if (upper == "SHAPE" || upper.ends_with("_ID")) {
      requests.push_back({i, ColumnRequest::As::text});
    } else if (is_number && is_evaluated_column(upper)) {
      requests.push_back({i, ColumnRequest::As::number});
    }
  }
  return requests;
}

std::vector<PixelPosition> places_in_image(const SourceList& list, const Wcs* wcs) {
  if (!list.has_pixels()) return pixel_places(list, wcs);
  std::vector<PixelPosition> places;
  for (const auto& source : list.sources) places.push_back({source.x, source.y});
  return places;
}

}  // namespace

const TableColumn* SourceTable::find(std::string_view upper_name) const {
  const TableColumn* found = nullptr;
  for (const auto& column : more.table.columns) {
    if (upper_case(column.name) != upper_name) continue;
    if (found != nullptr) return nullptr;
    found = &column;
  }
  return found;
}

SourceTable read_source_table(const EvaluatedCatalogue& catalogue, const Wcs* wcs) {
  SourceTable result;
  const auto reads = [&](const ColumnChoice& choose) {
    return catalogue.table == nullptr ? read_table(catalogue.name, choose)
                                      : chosen_columns(*catalogue.table, catalogue.name, choose);
  };
  result.list = catalogue.table == nullptr ? read_source_list(catalogue.name)
                                           : source_list_of(*catalogue.table, catalogue.name);
  const std::vector<std::string> positions = {result.list.column(Q::ra), result.list.column(Q::dec),
                                              result.list.column(Q::x), result.list.column(Q::y)};
  auto more = reads([&](const auto& columns) { return more_columns(columns, positions); });
  if (more) result.more = std::move(*more);
  result.places = places_in_image(result.list, wcs);
  return result;
}

}  // namespace kastor::io::detail
