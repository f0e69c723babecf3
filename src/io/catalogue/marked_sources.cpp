// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/marked_sources.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_reader.hpp>
#include <limits>

#include "io/catalogue/column_finder.hpp"
#include "io/catalogue/pixel_places.hpp"
#include "io/sky/sky_geometry.hpp"
#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

using Texts = std::vector<std::string>;

constexpr std::array<const char*, 6> k_outline = {"x_cen", "y_cen", "x_min",
                                                  "x_max", "y_min", "y_max"};
constexpr std::array<const char*, 2> k_ids = {"id", "island_id"};

/// A whole number, also as "3.0".
template <class Integer>
bool parse_whole(const std::string& text, Integer& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end) return true;
  // Doubles up to 2^53 are exact; those of 32 bits are within the limits of the type.
  constexpr double most =
      sizeof(Integer) < 8 ? static_cast<double>(std::numeric_limits<Integer>::max()) : 0x1p53;
  const auto number = detail::number_of(text);
  if (!number || !(std::abs(*number) <= most) || *number != std::trunc(*number)) return false;
  value = static_cast<Integer>(*number);
  return true;
}

/// The columns of Kastor's tables: whole numbers are read as text, so that 64 bits are exact.
class OutlineTable {
 public:
  explicit OutlineTable(const TableFromFile& file) : m_file(file) {}

  Catalogue sources(bool with_ids) {
    const auto& x = std::get<std::vector<double>>(m_file.table.columns[0].values);
    const auto& y = std::get<std::vector<double>>(m_file.table.columns[1].values);
    Catalogue sources(x.size());
    for (std::size_t row = 0; row < sources.size(); ++row) {
      auto& source = sources[row];
      source.x_cen = x[row];
      source.y_cen = y[row];
      set_whole(2, row, source.x_min, "a 32-bit integer");
      set_whole(3, row, source.x_max, "a 32-bit integer");
      set_whole(4, row, source.y_min, "a 32-bit integer");
      set_whole(5, row, source.y_max, "a 32-bit integer");
      if (with_ids) set_whole(6, row, source.id, "an integer");
    }
    return sources;
  }

 private:
  [[nodiscard]] const Texts& texts(std::size_t column) const {
    return std::get<Texts>(m_file.table.columns[column].values);
  }

  template <class Integer>
  void set_whole(std::size_t column, std::size_t row, Integer& value, const char* what) const {
    if (!parse_whole(texts(column)[row], value)) fail(column, row, what);
  }

  [[noreturn]] void fail(std::size_t column, std::size_t row, const char* what) const {
    throw Error(fmt::format("{}: {}: {} is '{}'; expected {}", m_file.where, m_file.place_of(row),
                            detail::one_line(m_file.table.columns[column].name),
                            detail::one_line(texts(column)[row].substr(0, 40)), what));
  }

  const TableFromFile& m_file;
};

constexpr std::array<const char*, 5> k_ellipse = {"x_cen", "y_cen", "maj_axis_pix", "min_axis_pix",
                                                  "pos_ang_pix"};

/// The columns of a table of Kastor's components, the id last; empty if it is none.
std::vector<ColumnRequest> ellipse_columns(const std::vector<TableColumn>& columns) {
  const detail::ColumnFinder finder(columns);
  const auto id = finder.find_typed("component_id");
  if (!id) return {};
  std::vector<ColumnRequest> requests;
  for (const char* name : k_ellipse) {
    const auto column = finder.find_typed(name);
    if (!column) return {};
    requests.push_back({*column, ColumnRequest::As::number});
  }
  requests.push_back({*id, ColumnRequest::As::text});
  return requests;
}

std::vector<PictureEllipse> ellipses_of(const TableFromFile& file) {
  const auto& columns = file.table.columns;
  const auto number = [&](std::size_t column, std::size_t row) {
    return std::get<std::vector<double>>(columns[column].values)[row];
  };
  const auto& ids = std::get<Texts>(columns[k_ellipse.size()].values);
  std::vector<PictureEllipse> ellipses;
  for (std::size_t row = 0; row < ids.size(); ++row) {
    PictureEllipse ellipse{
        0, number(0, row), number(1, row), number(2, row), number(3, row), number(4, row)};
    if (!parse_whole(ids[row], ellipse.id)) {
      throw Error(fmt::format("{}: {}: component_id is '{}'; expected an integer", file.where,
                              file.place_of(row), detail::one_line(ids[row].substr(0, 40))));
    }
    if (std::isfinite(ellipse.x) && std::isfinite(ellipse.y)) ellipses.push_back(ellipse);
  }
  return ellipses;
}

/// The columns of a table of Kastor's islands or sources; empty if it is none. \throws
/// kastor::Error, without the name of the file, if it has centres but lacks other columns
std::vector<ColumnRequest> outline_columns(const std::vector<TableColumn>& columns, bool with_ids) {
  const detail::ColumnFinder finder(columns);
  if (!finder.has("X_CEN") || !finder.has("Y_CEN")) return {};
  if (finder.has("COMPONENT_ID") && !finder.has("X_MIN")) return {};
  std::vector<ColumnRequest> requests;
  const auto fail = [](const char* name) {
    throw Error(
        fmt::format("there is no column '{}'; expected the columns x_cen, y_cen, x_min, "
                    "x_max, y_min and y_max, and id or island_id for labels",
                    name));
  };
  for (const char* name : k_outline) {
    const auto column = finder.find_typed(name);
    if (!column) fail(name);
    const bool is_centre = requests.size() < 2;
    requests.push_back({*column, is_centre ? ColumnRequest::As::number : ColumnRequest::As::text});
  }
  if (!with_ids) return requests;
  for (const char* name : k_ids) {
    if (const auto column = finder.find_typed(name)) {
      requests.push_back({*column, ColumnRequest::As::text});
      return requests;
    }
  }
  fail(k_ids[0]);
  return {};
}

/// False if there is no place, or one so far away that it cannot be drawn.
bool set_outline(const PixelPosition& place, double radius, Source& source) {
  constexpr double most = 1e9;
  if (!(std::abs(place.x) <= most && std::abs(place.y) <= most)) return false;
  const double reach = radius > 0 && radius <= most ? radius : 0;
  source.x_cen = place.x;
  source.y_cen = place.y;
  // The marks reach half a pixel beyond the pixels of the box.
  source.x_min = static_cast<std::int32_t>(std::lround(place.x - reach + 0.5));
  source.x_max = static_cast<std::int32_t>(std::lround(place.x + reach - 0.5));
  source.y_min = static_cast<std::int32_t>(std::lround(place.y - reach + 0.5));
  source.y_max = static_cast<std::int32_t>(std::lround(place.y + reach - 0.5));
  return true;
}

/// Positions and radii in the image.
class SkyMarker {
 public:
  SkyMarker(const SourceList& list, const Wcs* wcs) : m_list(list), m_wcs(wcs) {}

  MarkedSources marked(bool with_ids) {
    MarkedSources result;
    result.notes = m_list.notes;
    find_places();
    std::size_t without = 0;
    for (std::size_t i = 0; i < m_list.sources.size(); ++i) {
      Source source{};
      if (set_outline(m_places[i], m_radii[i], source)) {
        if (with_ids) source.id = id_of(m_list.sources[i]);
        result.sources.push_back(source);
      } else if (has_position(m_list.sources[i])) {
        ++without;
      }
    }
    if (without > 0) {
      result.notes.push_back(fmt::format("{}: {} of {} sources have no place in the image's plane",
                                         detail::one_line(m_list.path), without,
                                         m_list.sources.size()));
    }
    return result;
  }

 private:
  [[nodiscard]] bool on_sky() const { return m_list.has_sky() && m_wcs != nullptr; }
  [[nodiscard]] bool has_position(const ListedSource& source) const {
    return on_sky() ? std::isfinite(source.ra) : std::isfinite(source.x) && std::isfinite(source.y);
  }

  void find_places() {
    m_places = detail::pixel_places(m_list, m_wcs);
    if (!on_sky()) {
      for (const auto& source : m_list.sources) m_radii.push_back(source.size_pixels);
      return;
    }
    const auto local = detail::local_sky(*m_wcs, m_places);
    for (std::size_t i = 0; i < m_places.size(); ++i)
      m_radii.push_back(m_list.sources[i].size_arcsec / std::sqrt(local[i].jacobian.area()));
  }

  [[nodiscard]] std::int64_t id_of(const ListedSource& source) const {
    std::int64_t id = 0;
    if (m_list.column(SourceQuantity::id).empty()) {
      throw Error(detail::one_line(m_list.path) +
                  ": there is no column 'id'; expected one for --labels");
    }
    if (parse_whole(source.id, id)) return id;
    throw Error(fmt::format("{}: row {}: {} is '{}'; expected an integer for --labels",
                            detail::one_line(m_list.path), source.row + 1,
                            detail::one_line(m_list.column(SourceQuantity::id)),
                            detail::one_line(source.id.substr(0, 40))));
  }

  const SourceList& m_list;
  const Wcs* m_wcs;
  std::vector<PixelPosition> m_places;
  std::vector<double> m_radii;
};

}  // namespace

MarkedSources read_marked_sources(const std::string& path, const Wcs* wcs, bool with_ids) {
  std::string trouble;
  bool has_ellipses = false;
  const auto choose = [&](const std::vector<TableColumn>& columns) -> std::vector<ColumnRequest> {
    auto of_ellipses = ellipse_columns(columns);
    has_ellipses = !of_ellipses.empty();
    if (has_ellipses) return of_ellipses;
    try {
      return outline_columns(columns, with_ids);
    } catch (const Error& error) {
      if (trouble.empty()) trouble = error.what();
      return {};
    }
  };
  if (const auto file = read_table(path, choose)) {
    if (has_ellipses) return {{}, ellipses_of(*file), {}};
    return {OutlineTable(*file).sources(with_ids), {}, {}};
  }
  if (!trouble.empty()) throw Error(detail::one_line(path) + ": " + trouble);
  const auto list = read_source_list(path);
  return SkyMarker(list, wcs).marked(with_ids);
}

}  // namespace kastor::io
