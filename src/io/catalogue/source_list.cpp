// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <kastor/error.hpp>
#include <kastor/io/robust.hpp>
#include <kastor/io/source_list.hpp>

#include "io/catalogue/chosen_columns.hpp"
#include "io/catalogue/position_values.hpp"
#include "io/catalogue/source_columns.hpp"
#include "io/catalogue/source_units.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using Q = SourceQuantity;
using detail::ScaledUnit;
using detail::SourceColumns;

constexpr std::array<const char*, k_source_quantities> k_quantity_names = {
    "id", "ra", "dec", "x", "y", "flux_peak", "flux_int", "flux_sum", "snr", "rms", "size"};

/// The columns that were read, by quantity.
class ColumnsRead {
 public:
  ColumnsRead(const TableFromFile& file, const std::vector<Q>& order) : m_file(file) {
    for (std::size_t i = 0; i < order.size(); ++i) m_at[static_cast<std::size_t>(order[i])] = i;
  }

  [[nodiscard]] const TableColumn* column(Q quantity) const {
    const auto at = m_at[static_cast<std::size_t>(quantity)];
    return at ? &m_file.table.columns[*at] : nullptr;
  }
  [[nodiscard]] const std::vector<double>* numbers(Q quantity) const {
    const auto* found = column(quantity);
    return found == nullptr ? nullptr : &std::get<std::vector<double>>(found->values);
  }
  [[nodiscard]] const std::vector<std::string>* texts(Q quantity) const {
    const auto* found = column(quantity);
    return found == nullptr ? nullptr : &std::get<std::vector<std::string>>(found->values);
  }

 private:
  const TableFromFile& m_file;
  std::array<std::optional<std::size_t>, k_source_quantities> m_at;
};

using Member = double ListedSource::*;

class ListMaker {
 public:
  ListMaker(const TableFromFile& file, const std::vector<Q>& order, const SourceColumns& columns)
      : m_file(file), m_read(file, order), m_columns(columns) {}

  SourceList make(const std::string& path) {
    m_list.path = path;
    m_list.format = m_file.format;
    for (const auto& note : m_columns.notes) m_list.notes.push_back(m_file.where + ": " + note);
    for (std::size_t q = 0; q < k_source_quantities; ++q) {
      const auto* column = m_read.column(static_cast<Q>(q));
      if (column == nullptr) continue;
      m_list.columns[q] = column->name;
      m_list.units[q] = column->unit;
      const auto rows =
          std::visit([](const auto& values) { return values.size(); }, column->values);
      m_list.sources.resize(rows);
    }
    for (std::size_t i = 0; i < m_list.sources.size(); ++i)
      m_list.sources[i].row = static_cast<std::int64_t>(i);
    take_texts();
    take_positions();
    for (const auto& [quantity, member] :
         {std::pair(Q::flux_peak, Member(&ListedSource::flux_peak)),
          std::pair(Q::flux_int, Member(&ListedSource::flux_int)),
          std::pair(Q::flux_sum, Member(&ListedSource::flux_sum))})
      take_flux(quantity, member);
    take_snr();
    take_size();
    return std::move(m_list);
  }

 private:
  std::string& unit(Q quantity) { return m_list.units[static_cast<std::size_t>(quantity)]; }

  void take(Q quantity, Member member, double factor, double offset = 0) {
    const auto* values = m_read.numbers(quantity);
    if (values == nullptr) return;
    for (std::size_t i = 0; i < values->size(); ++i)
      m_list.sources[i].*member = (*values)[i] * factor + offset;
  }

  void take_texts() {
    const auto* ids = m_read.texts(Q::id);
    if (ids == nullptr) return;
    for (std::size_t i = 0; i < ids->size(); ++i) m_list.sources[i].id = (*ids)[i];
  }

  void take_positions() {
    if (m_list.has_sky()) {
      auto sky = detail::sky_values(m_file, *m_read.column(Q::ra), *m_read.column(Q::dec),
                                    m_columns.frame);
      for (std::size_t i = 0; i < sky.positions.size(); ++i) {
        m_list.sources[i].ra = sky.positions[i].longitude;
        m_list.sources[i].dec = sky.positions[i].latitude;
      }
      m_list.frame = sky.frame;
      for (auto& note : sky.notes) m_list.notes.push_back(std::move(note));
      unit(Q::ra) = unit(Q::dec) = "deg";
    }
    const double origin = -m_columns.pixel_origin;
    take(Q::x, &ListedSource::x, 1, origin);
    take(Q::y, &ListedSource::y, 1, origin);
    if (m_list.has_pixels()) unit(Q::x) = unit(Q::y) = "pixel";
  }

  void take_flux(Q quantity, Member member) {
    const ScaledUnit scaled = detail::scaled_flux_unit(unit(quantity));
    take(quantity, member, scaled.factor);
    unit(quantity) = scaled.base;
  }

  void take_snr() {
    unit(Q::snr).clear();
    take(Q::snr, &ListedSource::snr, 1);
    const auto* rms = m_read.numbers(Q::rms);
    if (rms == nullptr) return;
    const ScaledUnit scaled = detail::scaled_flux_unit(unit(Q::rms));
    unit(Q::rms) = scaled.base;
    // The ratio of two different kinds of units is not known.
    const bool alike = scaled.base == unit(Q::flux_peak);
    if (m_read.numbers(Q::snr) != nullptr) return;
    for (std::size_t i = 0; alike && i < rms->size(); ++i) {
      auto& source = m_list.sources[i];
      source.snr = std::abs(source.flux_peak) / ((*rms)[i] * scaled.factor);
    }
  }

  void take_size() {
    if (m_read.numbers(Q::size) == nullptr) return;
    const auto& written = m_columns.size_unit;
    unit(Q::size) = written;
    const auto degrees = detail::degrees_per(written);
    if (detail::is_pixel_unit(written)) {
      take(Q::size, &ListedSource::size_pixels, m_columns.size_to_fwhm);
      m_list.median_size_pixels = median_size(&ListedSource::size_pixels);
    } else if (!written.empty() && degrees && !detail::is_hours(written)) {
      take(Q::size, &ListedSource::size_arcsec, m_columns.size_to_fwhm * *degrees * 3600);
      m_list.median_size_arcsec = median_size(&ListedSource::size_arcsec);
    } else {
      m_list.notes.push_back(fmt::format(
          "{}: the sizes in the column {} {}, so that the radius cannot come from them",
          m_file.where, detail::one_line(m_list.column(Q::size)),
          written.empty() ? "have no unit" : "have the unit '" + detail::one_line(written) + "'"));
    }
  }

  double median_size(Member member) const {
    std::vector<double> present;
    for (const auto& source : m_list.sources) {
      const double size = source.*member;
      if (std::isfinite(size) && size > 0) present.push_back(size);
    }
    return median_of(std::move(present));
  }

  const TableFromFile& m_file;
  ColumnsRead m_read;
  const SourceColumns& m_columns;
  SourceList m_list;
};

}  // namespace

const char* name_of(SourceQuantity quantity) {
  return k_quantity_names[static_cast<std::size_t>(quantity)];
}

std::optional<SourceQuantity> source_quantity_named(const std::string& name) {
  const auto found = std::find(k_quantity_names.begin(), k_quantity_names.end(), name);
  if (found == k_quantity_names.end()) return std::nullopt;
  return static_cast<SourceQuantity>(found - k_quantity_names.begin());
}

bool SourceList::has_snr() const {
  if (!column(Q::snr).empty()) return true;
  return !column(Q::rms).empty() && !column(Q::flux_peak).empty() &&
         unit(Q::rms) == unit(Q::flux_peak);
}

namespace {

using Reader = std::function<std::optional<TableFromFile>(const ColumnChoice&)>;

SourceList list_from(const Reader& read, const std::string& path, const ColumnNames& named) {
  SourceColumns columns;
  std::vector<Q> order;
  std::vector<TableColumn> seen;  // columns of the first table, for the message
  std::string trouble;
  const auto choose = [&](const std::vector<TableColumn>& heads) -> std::vector<ColumnRequest> {
    if (seen.empty()) seen = heads;
    SourceColumns found;
    try {
      found = detail::recognise_columns(heads, named);
    } catch (const Error& error) {
      if (trouble.empty()) trouble = error.what();
      return {};
    }
    if (!found.has_positions()) return {};
    columns = found;
    std::vector<ColumnRequest> requests;
    for (std::size_t q = 0; q < k_source_quantities; ++q) {
      if (!found.column[q]) continue;
      const auto quantity = static_cast<Q>(q);
      const bool position = quantity == Q::ra || quantity == Q::dec;
      const bool text = quantity == Q::id || (position && found.text_positions);
      order.push_back(static_cast<Q>(q));
      requests.push_back(
          {*found.column[q], text ? ColumnRequest::As::text : ColumnRequest::As::number});
    }
    return requests;
  };
  const auto file = read(choose);
  if (!file) {
    const std::string found =
        !trouble.empty() ? trouble
        : seen.empty()   ? "no table was found; expected a catalogue"
                         : fmt::format(
                               "no position columns were recognised among {}; expected ra and dec, l "
                                 "and b, or x "
                                 "and y, or columns named by the user (as in ra=RAJ2000,dec=DEJ2000)",
                               detail::names_of(seen));
    throw Error(detail::one_line(path) + ": " + found);
  }
  return ListMaker(*file, order, columns).make(path);
}

/// The values as the type that was asked for.
TableColumn::Values as_requested(const TableColumn::Values& values, ColumnRequest::As as) {
  return std::visit(
      [as](const auto& all) -> TableColumn::Values {
        using Value = typename std::decay_t<decltype(all)>::value_type;
        if constexpr (std::is_same_v<Value, std::string>) {
          if (as == ColumnRequest::As::text) return all;
          return std::vector<double>(all.size(), std::nan(""));
        } else {
          if (as == ColumnRequest::As::number) return std::vector<double>(all.begin(), all.end());
          std::vector<std::string> texts;
          for (const auto value : all) texts.push_back(fmt::format("{}", value));
          return texts;
        }
      },
      values);
}

}  // namespace

SourceList read_source_list(const std::string& path, const ColumnNames& named) {
  return list_from([&](const auto& choose) { return read_table(path, choose); }, path, named);
}

namespace detail {

std::optional<TableFromFile> chosen_columns(const Table& table, const std::string& name,
                                            const ColumnChoice& choose) {
  // As from a file: the heads hold no values, only their type.
  std::vector<TableColumn> heads = table.columns;
  for (auto& head : heads) {
    if (std::holds_alternative<std::vector<std::string>>(head.values)) {
      head.values = std::vector<std::string>();
    } else {
      head.values = std::vector<double>();
    }
  }
  const auto requests = choose(heads);
  if (requests.empty()) return std::nullopt;
  TableFromFile chosen;
  chosen.where = one_line(name);
  chosen.table.name = table.name;
  chosen.table.frame = table.frame;
  for (const auto& request : requests) {
    TableColumn column = heads.at(request.column);
    column.values = as_requested(table.columns[request.column].values, request.as);
    chosen.table.columns.push_back(std::move(column));
  }
  return chosen;
}

}  // namespace detail

SourceList source_list_of(const Table& table, const std::string& name) {
  return list_from([&](const auto& choose) { return detail::chosen_columns(table, name, choose); },
                   name, {});
}

}  // namespace kastor::io
