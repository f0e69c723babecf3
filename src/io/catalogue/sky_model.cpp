// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/sky_model.hpp>

#include "io/catalogue/source_units.hpp"
#include "io/output/provenance_entries.hpp"
#include "io/sky/sexagesimal_text.hpp"
#include "io/table/text_file.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr int k_decimals = 6;  // of seconds
// Of a component whose type is POINT.
constexpr std::int64_t k_point_flags =
    std::int64_t{component_unresolved} | std::int64_t{component_beam_shape};

/// The components of a table, as sources of a sky model.
class ModelSources {
 public:
  explicit ModelSources(const Table& table)
      : m_table(table),
        m_islands(column<std::int64_t>("island_id")),
        m_ids(column<std::int64_t>("component_id")),
        m_flags(column<std::int64_t>("flags")),
        m_right_ascensions(column<double>("ra_deg_cont")),
        m_declinations(column<double>("dec_deg_cont")),
        m_fluxes(column<double>("flux_int")),
        m_frequencies(column<double>("freq")) {
    const std::string ending = column<double>("maj_axis_deconv") == nullptr ? "" : "_deconv";
    m_majors = column<double>("maj_axis" + ending);
    m_minors = column<double>("min_axis" + ending);
    m_angles = column<double>("pos_ang" + ending);
    check();
  }

  [[nodiscard]] std::size_t size() const { return m_ids->size(); }
  [[nodiscard]] bool has_frequency() const {
    return m_frequencies != nullptr && !m_frequencies->empty();
  }
  /// Of the first row, which is that of all rows [Hz].
  [[nodiscard]] double frequency() const { return m_frequencies->front(); }

  /// Empty if the component has no position, flux or shape.
  [[nodiscard]] std::string line(std::size_t row) const {
    const bool is_point = ((*m_flags)[row] & k_point_flags) != 0 || (*m_majors)[row] == 0;
    const double right_ascension = (*m_right_ascensions)[row], declination = (*m_declinations)[row];
    const double flux = (*m_fluxes)[row] * m_jansky;
    const double major = (*m_majors)[row], minor = (*m_minors)[row], angle = (*m_angles)[row];
    const bool is_placed = std::isfinite(right_ascension) && std::isfinite(declination);
    const bool has_shape = std::isfinite(major) && std::isfinite(minor) && std::isfinite(angle);
    if (!is_placed || !std::isfinite(flux) || !(is_point || has_shape)) return "";
    std::string text = fmt::format("i{}_c{}, {}, {}, {}, {}", (*m_islands)[row], (*m_ids)[row],
                                   is_point ? "POINT" : "GAUSSIAN",
                                   detail::hours_text(right_ascension, k_decimals),
                                   detail::degrees_text(declination, k_decimals, '.'), flux);
    text += is_point ? ", 0, 0, 0" : fmt::format(", {}, {}, {}", major, minor, angle);
    text += ", true";
    if (has_frequency()) text += fmt::format(", {}", frequency());
    return text + ", []\n";
  }

 private:
  template <class Value>
  [[nodiscard]] const std::vector<Value>* column(const std::string& name) const {
    const auto found = std::find_if(m_table.columns.begin(), m_table.columns.end(),
                                    [&](const TableColumn& each) { return each.name == name; });
    return found == m_table.columns.end() ? nullptr
                                          : std::get_if<std::vector<Value>>(&found->values);
  }

  void check() {
    KASTOR_EXPECTS(
        "kastor::io::write_sky_model",
        m_islands != nullptr && m_ids != nullptr && m_flags != nullptr && m_fluxes != nullptr,
        "found a table without the columns of components; expected a component_table()");
    const bool is_j2000 = m_table.frame == SkyFrame::icrs || m_table.frame == SkyFrame::fk5;
    if (m_right_ascensions == nullptr || m_majors == nullptr || !is_j2000) {
      throw Error(fmt::format("found {} for a sky model; expected positions in ICRS or J2000",
                              m_right_ascensions == nullptr ? "no right ascensions and declinations"
                                                            : "positions in another frame"));
    }
    const auto flux = std::find_if(m_table.columns.begin(), m_table.columns.end(),
                                   [](const TableColumn& each) { return each.name == "flux_int"; });
    const auto unit = detail::scaled_flux_unit(flux->unit);
    if (unit.base != "Jy") {
      throw Error(fmt::format(
          "found fluxes {} for a sky model; expected Jy",
          flux->unit.empty() ? "without a unit" : "in " + detail::one_line(flux->unit)));
    }
    m_jansky = unit.factor;
  }

  const Table& m_table;
  const std::vector<std::int64_t>*m_islands, *m_ids, *m_flags;
  const std::vector<double>*m_right_ascensions, *m_declinations, *m_fluxes, *m_frequencies;
  const std::vector<double>*m_majors, *m_minors, *m_angles;
  double m_jansky = 1;  // of the unit of the fluxes
};

}  // namespace

std::optional<SkyModelFormat> sky_model_format_of(std::string_view path) {
  if (detail::upper_case(path).ends_with(".SKYMODEL")) return SkyModelFormat::makesourcedb;
  return std::nullopt;
}

void write_sky_model(const std::string& path, const Table& components,
                     const Provenance& provenance) {
  const ModelSources sources(components);
  std::string lines;
  std::size_t left_out = 0;
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const std::string line = sources.line(row);
    if (line.empty()) ++left_out;
    lines += line;
  }
  detail::TextFile file(path);
  // Readers take the first line with the word "format" as this one, comments included.
  file.add(
      "FORMAT = Name, Type, Ra, Dec, I, MajorAxis, MinorAxis, Orientation, "
      "OrientationIsAbsolute='true'");
  if (sources.has_frequency())
    file.add(fmt::format(", ReferenceFrequency='{}'", sources.frequency()));
  file.add(", SpectralIndex='[]'\n");
  for (const auto& entry : detail::provenance_entries(provenance))
    file.add(detail::regions_line(entry));
  if (left_out > 0)
    file.add(fmt::format("# left out, without a position, a flux or a shape: {}\n", left_out));
  file.add(lines);
  file.close();
}

}  // namespace kastor::io
