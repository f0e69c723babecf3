// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <kastor/io/island_regions.hpp>
#include <string>

namespace kastor::io {
namespace {

/// The values of the column of this name; null if there is none, or of another type.
template <class Value>
const std::vector<Value>* values_of(const Table& table, const std::string& name) {
  const auto found = std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const auto& column) { return column.name == name; });
  return found == table.columns.end() ? nullptr : std::get_if<std::vector<Value>>(&found->values);
}

const std::vector<double>* reals(const Table& table, const std::string& name) {
  return values_of<double>(table, name);
}

/// NaN is treated as no length.
double half(double width) { return width > 0 ? width / 2 : 0.0; }

double or_zero(double angle) { return std::isfinite(angle) ? angle : 0.0; }

bool has_centre(double x, double y) { return std::isfinite(x) && std::isfinite(y); }

/// The values of one row; NaN if the table has no such column.
class RowOf {
 public:
  RowOf(const Table& table, std::size_t row) : m_table(table), m_row(row) {}
  double operator()(const char* name) const {
    const auto* values = reals(m_table, name);
    return values == nullptr ? std::nan("") : (*values)[m_row];
  }

 private:
  const Table& m_table;
  std::size_t m_row;
};

Region on_sky(const RowOf& at) {
  const bool centre = has_centre(at("ra_deg_cont"), at("dec_deg_cont"));
  return {centre ? at("ra_deg_cont") : at("ra_peak"),
          centre ? at("dec_deg_cont") : at("dec_peak"),
          half(at("maj_axis")),
          half(at("min_axis")),
          or_zero(at("pos_ang")),
          ""};
}

Region in_pixels(const PixelPosition& place, const RowOf& at) {
  return {place.x,
          place.y,
          half(at("maj_axis_pix")),
          half(at("min_axis_pix")),
          or_zero(at("pos_ang_pix")),
          ""};
}

PixelPosition place_of(const Island& island) {
  if (has_centre(island.x_cen, island.y_cen)) return {island.x_cen, island.y_cen};
  return {static_cast<double>(island.x_peak), static_cast<double>(island.y_peak)};
}

}  // namespace

ShownRegions island_regions(const Islands& islands, const Table& table) {
  ShownRegions shown;
  if (reals(table, "ra_deg_cont") != nullptr) shown.frame = table.frame;
  shown.regions.reserve(islands.size());
  for (std::size_t row = 0; row < islands.size(); ++row) {
    const RowOf at(table, row);
    shown.regions.push_back(shown.frame ? on_sky(at) : in_pixels(place_of(islands[row]), at));
    shown.regions.back().text = std::to_string(islands[row].id);
  }
  return shown;
}

ShownRegions component_regions(const Table& table) {
  ShownRegions shown;
  const auto* ids = values_of<std::int64_t>(table, "component_id");
  if (ids == nullptr) ids = values_of<std::int64_t>(table, "id");
  if (ids == nullptr) return shown;
  if (reals(table, "ra_deg_cont") != nullptr) shown.frame = table.frame;
  shown.regions.reserve(ids->size());
  for (std::size_t row = 0; row < ids->size(); ++row) {
    const RowOf at(table, row);
    shown.regions.push_back(shown.frame ? on_sky(at) : in_pixels({at("x_cen"), at("y_cen")}, at));
    shown.regions.back().text = std::to_string((*ids)[row]);
  }
  return shown;
}

ShownRegions catalogue_regions(const Catalogue& catalogue, const Wcs* wcs) {
  ShownRegions shown;
  std::vector<PixelPosition> places;
  places.reserve(catalogue.size());
  for (const Source& s : catalogue) {
    const bool centre = has_centre(s.x_cen, s.y_cen);
    places.push_back({centre ? s.x_cen : static_cast<double>(s.x_peak),
                      centre ? s.y_cen : static_cast<double>(s.y_peak)});
  }
  if (wcs != nullptr) shown.frame = sky_frame_of(*wcs);
  const auto sky = shown.frame ? wcs->to_sky(places) : std::vector<SkyPosition>{};
  shown.regions.reserve(catalogue.size());
  for (std::size_t row = 0; row < catalogue.size(); ++row) {
    Region region;
    region.x = shown.frame ? sky[row].longitude : places[row].x;
    region.y = shown.frame ? sky[row].latitude : places[row].y;
    region.text = std::to_string(catalogue[row].id);
    shown.regions.push_back(region);
  }
  return shown;
}

}  // namespace kastor::io
