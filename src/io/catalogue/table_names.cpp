// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/table_names.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/catalogue/named_columns.hpp"
#include "io/sky/sexagesimal_text.hpp"

namespace kastor::io {
namespace {

using detail::InTables;
using detail::NamedColumn;
using detail::Recipe;
using IntegerValues = std::vector<std::int64_t>;
using RealValues = std::vector<double>;
using TextValues = std::vector<std::string>;

constexpr std::array k_table_names = {
    std::pair{TableNames::kastor, "kastor"}, std::pair{TableNames::pybdsf, "pybdsf"},
    std::pair{TableNames::aegean, "aegean"}, std::pair{TableNames::sextractor, "sextractor"},
    std::pair{TableNames::vizier, "vizier"}};

const TableColumn* native_column(const Table& table, std::string_view name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const TableColumn& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : &*found;
}

/// The first of "a|b|c" that `find` finds; null if there is none.
template <class Find>
auto first_existing(std::string_view names, const Find& find) -> decltype(find(names)) {
  for (std::size_t at = 0; at < names.size();) {
    const auto end = std::min(names.find('|', at), names.size());
    if (const auto* found = find(names.substr(at, end - at))) return found;
    at = end + 1;
  }
  return nullptr;
}

RealValues reals_of(const TableColumn& column) {
  const auto* integers = std::get_if<IntegerValues>(&column.values);
  if (integers == nullptr) return std::get<RealValues>(column.values);
  RealValues reals(integers->begin(), integers->end());
  return reals;
}

template <class Value, class From, class Make>
std::vector<Value> each_of(const std::vector<From>& values, const Make& make) {
  std::vector<Value> made;
  made.reserve(values.size());
  for (const From& value : values) made.push_back(make(value));
  return made;
}

/// An angle from 0 to 180 degrees as one above -90 and up to 90.
double above_minus_90(double angle) { return angle > 90 ? angle - 180 : angle; }

std::string hours_or_none(double angle) {
  return std::isfinite(angle) ? detail::hours_text(angle, 2) : "XX:XX:XX.XX";
}
std::string degrees_or_none(double angle) {
  return std::isfinite(angle) ? detail::degrees_text(angle, 2, ':') : "XX:XX:XX.XX";
}

/// Makes the values of one column from those of a table.
class ColumnMaker {
 public:
  ColumnMaker(const Table& table, const NamedColumn& how)
      : m_table(table),
        m_how(how),
        m_a(first_existing(how.from,
                           [&](std::string_view name) { return native_column(table, name); })),
        m_b(first_existing(how.other,
                           [&](std::string_view name) { return native_column(table, name); })) {}

  /// What the column is made of; null if the table does not have it.
  [[nodiscard]] const TableColumn* source() const {
    if (m_how.recipe == Recipe::card) return card() == nullptr ? nullptr : &m_table.columns.front();
    const bool needs_both = !m_how.other.empty() && m_how.recipe != Recipe::flags;
    return needs_both && m_b == nullptr ? nullptr : m_a;
  }

  [[nodiscard]] TableColumn::Values values() const {
    switch (m_how.recipe) {
      case Recipe::copy:
        return copied();
      case Recipe::hours:
        return each_of<std::string>(reals_of(*m_a), hours_or_none);
      case Recipe::degrees:
        return each_of<std::string>(reals_of(*m_a), degrees_or_none);
      case Recipe::rank:
        return ranks();
      case Recipe::flags:
        return flags();
      case Recipe::name_and_id:
        return names_and_ids();
      case Recipe::zero:
        return IntegerValues(std::get<IntegerValues>(m_a->values).size(), 0);
      case Recipe::extent:
        return extents();
      case Recipe::card:
        return RealValues(rows(), *card() * m_how.scale);
      default:
        return numbers();
    }
  }

 private:
  [[nodiscard]] std::size_t rows() const {
    return std::visit([](const auto& values) { return values.size(); },
                      m_table.columns.front().values);
  }

  [[nodiscard]] const double* card() const {
    for (const HeaderCard& each : m_table.cards)
      if (each.keyword == m_how.from) return std::get_if<double>(&each.value);
    return nullptr;
  }

  [[nodiscard]] TableColumn::Values copied() const {
    if (const auto* integers = std::get_if<IntegerValues>(&m_a->values)) {
      const auto offset = static_cast<std::int64_t>(m_how.offset);
      return each_of<std::int64_t>(*integers, [=](std::int64_t value) { return value + offset; });
    }
    const auto* reals = std::get_if<RealValues>(&m_a->values);
    if (reals == nullptr) return m_a->values;
    return each_of<double>(*reals, [&](double value) {
      return std::isnan(value) ? m_how.unknown : value * m_how.scale + m_how.offset;
    });
  }

  /// Those recipes that are formulas of real numbers.
  [[nodiscard]] RealValues numbers() const {
    const RealValues first = reals_of(*m_a);
    const RealValues second = m_b == nullptr ? RealValues(first.size()) : reals_of(*m_b);
    RealValues made;
    made.reserve(first.size());
    for (std::size_t row = 0; row < first.size(); ++row)
      made.push_back(number(first[row], second[row]) * m_how.scale);
    return made;
  }
  [[nodiscard]] double number(double a, double b) const {
    switch (m_how.recipe) {
      case Recipe::half_turn:
        return above_minus_90(a);
      case Recipe::square:
        return a * a;
      case Recipe::quadratic_mean:
        return std::sqrt((a * a + b * b) / 2);
      case Recipe::ratio:
        return a / b;
      case Recipe::flattening:
        return 1 - b / a;
      default:
        return a;
    }
  }

  [[nodiscard]] IntegerValues extents() const {
    const auto& first = std::get<IntegerValues>(m_a->values);
    const auto& last = std::get<IntegerValues>(m_b->values);
    IntegerValues made;
    for (std::size_t row = 0; row < first.size(); ++row) made.push_back(last[row] - first[row] + 1);
    return made;
  }

  [[nodiscard]] IntegerValues ranks() const {
    std::map<std::int64_t, std::int64_t> seen;
    return each_of<std::int64_t>(std::get<IntegerValues>(m_a->values),
                                 [&](std::int64_t value) { return seen[value]++; });
  }

  [[nodiscard]] IntegerValues flags() const {
    const auto& ours = std::get<IntegerValues>(m_a->values);
    const auto* groups = m_b == nullptr ? nullptr : &std::get<IntegerValues>(m_b->values);
    std::map<std::int64_t, int> members;
    for (std::size_t row = 0; groups != nullptr && row < groups->size(); ++row)
      ++members[(*groups)[row]];
    IntegerValues made;
    for (std::size_t row = 0; row < ours.size(); ++row) {
      std::int64_t bits = 0;
      for (const auto& [our, their] : m_how.bits)
        if ((ours[row] & std::int64_t{our}) != 0) bits |= their;
      if (groups != nullptr && members[(*groups)[row]] > 1) bits |= m_how.shared;
      made.push_back(bits);
    }
    return made;
  }

  [[nodiscard]] TextValues names_and_ids() const {
    const auto& names = std::get<TextValues>(m_a->values);
    const auto& ids = std::get<IntegerValues>(m_b->values);
    TextValues made;
    for (std::size_t row = 0; row < names.size(); ++row)
      made.push_back(fmt::format("{}_{}", names[row], ids[row]));
    return made;
  }

  const Table& m_table;
  const NamedColumn& m_how;
  const TableColumn* m_a;
  const TableColumn* m_b;
};

bool keeps_name(const TableColumn& column) {
  if (column.name == "flux_limit") return true;
  const auto starts = [&](const char* stem) { return column.name.starts_with(stem); };
  return starts("flux_aper_") || starts("area_aper_") || starts("n_missing_") ||
         starts("flags_aper_");
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A description with the new names of the columns that it mentions.
std::string with_new_names(const std::string& text,
                           const std::map<std::string, std::string>& new_names) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    if (end == at) {
      made += text[at++];
      continue;
    }
    const std::string word = text.substr(at, end - at);
    const auto found = new_names.find(word);
    made += found == new_names.end() ? word : found->second;
    at = end;
  }
  return made;
}

std::string with_replaced(std::string text, std::string_view old, std::string_view instead) {
  if (const auto at = text.find(old); at != std::string::npos)
    text.replace(at, old.size(), instead);
  return text;
}

std::string description_of(const NamedColumn& how, const TableColumn& source) {
  if (!how.text.empty()) return std::string(how.text);
  if (how.offset == 0) return source.description;
  return with_replaced(with_replaced(source.description, "from 0", "from 1"), "pixel is 0",
                       "pixel is 1");
}

/// That of what is not the same quantity is not known.
std::string ucd_of(const NamedColumn& how, const TableColumn& source) {
  const bool is_same =
      how.recipe == Recipe::copy || how.recipe == Recipe::half_turn || how.recipe == Recipe::flags;
  return is_same ? source.ucd : "";
}

/// \throws Error if the names do not fit the positions
void check_positions(const Table& table, TableNames names) {
  const bool has_sky = native_column(table, "ra_deg_cont") != nullptr;
  const bool needs_sky = names == TableNames::aegean || names == TableNames::vizier;
  if (needs_sky && !has_sky) {
    throw Error(fmt::format(
        "found no right ascensions and declinations for the columns of --names {}; expected an "
        "image with equatorial or galactic coordinates, or the names pybdsf or sextractor",
        name_of(names)));
  }
  const bool says_frame = names == TableNames::sextractor || names == TableNames::vizier;
  if (!says_frame || !has_sky) return;
  const bool is_j2000 = table.frame == SkyFrame::icrs || table.frame == SkyFrame::fk5;
  if (is_j2000 || table.frame == SkyFrame::fk4) return;
  throw Error(
      fmt::format("found positions in a frame that the columns of --names {} have no names for; "
                  "expected ICRS, J2000 or B1950, or the names pybdsf or aegean",
                  name_of(names)));
}

std::string name_in_frame(std::string_view name, const std::optional<SkyFrame>& frame) {
  const std::string text(name);
  return frame == SkyFrame::fk4 ? with_replaced(text, "J2000", "B1950") : text;
}

}  // namespace

const char* name_of(TableNames names) {
  for (const auto& [each, name] : k_table_names)
    if (each == names) return name;
  return "";
}

std::optional<TableNames> table_names_called(std::string_view name) {
  for (const auto& [names, called] : k_table_names)
    if (called == name) return names;
  return std::nullopt;
}

Table table_with_names(const Table& table, TableNames names) {
  if (names == TableNames::kastor) return table;
  check_positions(table, names);
  const auto own =
      native_column(table, "component_id") != nullptr || native_column(table, "id") != nullptr
          ? InTables::components
          : InTables::islands;
  Table made = table;
  made.columns.clear();
  std::map<std::string, std::string> new_names;
  for (const NamedColumn& how : detail::named_columns(names)) {
    if (how.in != InTables::all && how.in != own) continue;
    const std::string name = name_in_frame(how.name, table.frame);
    const ColumnMaker maker(table, how);
    const TableColumn* source = maker.source();
    if (source == nullptr || native_column(made, name) != nullptr) continue;
    if (how.recipe == Recipe::copy) new_names.emplace(source->name, name);
    made.columns.push_back(
        {name, std::string(how.unit == "=" ? std::string_view(source->unit) : how.unit),
         ucd_of(how, *source), description_of(how, *source), maker.values()});
  }
  for (TableColumn& column : made.columns)
    column.description = with_new_names(column.description, new_names);
  for (const TableColumn& column : table.columns)
    if (keeps_name(column)) made.columns.push_back(column);
  return made;
}

}  // namespace kastor::io
