// SPDX-License-Identifier: Apache-2.0
#include "io/catalogue/column_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>

#include "io/text.hpp"

namespace kastor::io::detail {

ColumnFinder::ColumnFinder(const std::vector<TableColumn>& columns) : m_columns(columns) {
  for (const auto& column : columns) m_names.push_back(upper_case(column.name));
}

std::optional<std::size_t> ColumnFinder::find(std::string_view upper_name) const {
  const auto found = std::find(m_names.begin(), m_names.end(), upper_name);
  if (found == m_names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - m_names.begin());
}

bool ColumnFinder::is_ambiguous(std::string_view upper_name) const {
  return std::count(m_names.begin(), m_names.end(), upper_name) > 1;
}

std::optional<std::size_t> ColumnFinder::find_typed(std::string_view name) const {
  const auto upper = upper_case(name);
  if (!is_ambiguous(upper)) return find(upper);
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < m_columns.size(); ++i) {
    if (m_columns[i].name != name) continue;
    if (found) {
      found.reset();
      break;
    }
    found = i;
  }
  if (!found) {
    throw Error(fmt::format("the column '{}' occurs {} times; expected it once", one_line(name),
                            std::count(m_names.begin(), m_names.end(), upper)));
  }
  return found;
}

std::string names_of(const std::vector<TableColumn>& columns) {
  constexpr std::size_t most = 12;
  std::string names;
  for (std::size_t i = 0; i < columns.size() && i < most; ++i)
    names += (i == 0 ? "" : ", ") + one_line(columns[i].name);
  return names + (columns.size() > most ? ", ..." : "");
}

}  // namespace kastor::io::detail
