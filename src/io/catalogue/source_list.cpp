// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/robust.hpp>
#include <kastor/io/source_list.hpp>

#include "io/catalogue/source_columns.hpp"
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

  double angle(Q quantity) {
    const auto degrees = detail::degrees_per(unit(quantity));
    if (!degrees) {
      fail(fmt::format("the column {} has the unit '{}'; expected deg or another unit of angle",
                       m_list.column(quantity), detail::one_line(unit(quantity))));
    }
    unit(quantity) = "deg";
    return *degrees;
  }

  void take_positions() {
    if (m_list.has_sky()) {
      take(Q::ra, &ListedSource::ra, angle(Q::ra));
      take(Q::dec, &ListedSource::dec, angle(Q::dec));
      for (auto& source : m_list.sources) {
        // Some catalogues write numbers like -999 for "none".
        const bool good = std::abs(source.ra) <= 720 && std::abs(source.dec) <= 90;
        if (!good) source.ra = source.dec = ListedSource::k_none;
        source.ra = std::fmod(source.ra, 360.0);
        if (source.ra < 0) source.ra += 360;
        if (source.ra >= 360) source.ra = 0;  // from rounding a tiny negative one
      }
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
    const auto* sizes = m_read.numbers(Q::size);
    if (sizes == nullptr) return;
    const std::string written = unit(Q::size).empty() ? m_columns.size_unit : unit(Q::size);
    std::vector<double> present;
    std::copy_if(sizes->begin(), sizes->end(), std::back_inserter(present),
                 [](double size) { return std::isfinite(size) && size > 0; });
    const double median = median_of(std::move(present));
    const auto upper = detail::upper_case(written);
    unit(Q::size) = written;
    if (upper == "PIX" || upper == "PIXEL" || upper == "PIXELS") {
      m_list.median_size_pixels = median;
    } else if (const auto degrees = detail::degrees_per(written); degrees && !written.empty()) {
      m_list.median_size_arcsec = median * *degrees * 3600;
    }
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(m_file.where + ": " + message);
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

SourceList read_source_list(const std::string& path, const ColumnNames& named) {
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
      const bool text = static_cast<Q>(q) == Q::id;
      order.push_back(static_cast<Q>(q));
      requests.push_back(
          {*found.column[q], text ? ColumnRequest::As::text : ColumnRequest::As::number});
    }
    return requests;
  };
  const auto file = read_table(path, choose);
  if (!file) {
    const std::string found =
        !trouble.empty() ? trouble
        : seen.empty()
            ? "no table was found; expected a catalogue"
            : fmt::format(
                  "no position columns were recognised among {}; expected ra and dec, or x and y, "
                  "or columns named by the user (as in ra=RAJ2000,dec=DEJ2000)",
                  detail::names_of(seen));
    throw Error(detail::one_line(path) + ": " + found);
  }
  return ListMaker(*file, order, columns).make(path);
}

}  // namespace kastor::io
