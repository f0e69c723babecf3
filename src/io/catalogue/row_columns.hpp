// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_ROW_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_ROW_COLUMNS_HPP

#include <cmath>
#include <cstdint>
#include <kastor/io/table.hpp>
#include <kastor/io/wcs.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kastor::io::detail {

/// Turns rows into columns.
template <class Row>
class RowColumns {
 public:
  RowColumns(const std::vector<Row>& rows, bool radio)
      : m_rows(rows), m_band(radio ? ";em.radio" : "") {}

  template <class Field>
  void add(std::string name, std::string unit, std::string ucd, std::string description,
           const Field& field) {
    using Found = std::decay_t<decltype(field(m_rows.front()))>;
    using Value = std::conditional_t<std::is_integral_v<Found>, std::int64_t, Found>;
    std::vector<Value> values;
    values.reserve(m_rows.size());
    for (const Row& row : m_rows) values.push_back(field(row));
    m_columns.push_back({std::move(name), std::move(unit), std::move(ucd), std::move(description),
                         std::move(values)});
  }
  /// The UCD of a flux, with the band of the image appended.
  [[nodiscard]] std::string flux(const std::string& ucd) const { return ucd + m_band; }
  void append(std::vector<TableColumn> columns) {
    for (TableColumn& each : columns) m_columns.push_back(std::move(each));
  }
  [[nodiscard]] std::vector<TableColumn> take() { return std::move(m_columns); }

 private:
  const std::vector<Row>& m_rows;
  std::string m_band;
  std::vector<TableColumn> m_columns;
};

/// The error of a variance.
[[nodiscard]] inline double root(double variance) { return std::sqrt(variance); }

inline constexpr const char* k_of_names = "IAU designation, coordinates truncated";

template <class Row>
void add_equatorial(RowColumns<Row>& columns, const std::string& frame, const std::string& which) {
  columns.add("ra_deg_cont", "deg", "pos.eq.ra;meta.main",
              "Right ascension of the " + which + " centre (" + frame + ")",
              [](const Row& r) { return r.sky.equatorial.longitude; });
  columns.add("dec_deg_cont", "deg", "pos.eq.dec;meta.main",
              "Declination of the " + which + " centre (" + frame + ")",
              [](const Row& r) { return r.sky.equatorial.latitude; });
  columns.add("ra_err", "arcsec", "stat.error;pos.eq.ra",
              "Error of the centre towards east, on the sky",
              [](const Row& r) { return root(r.centre_cov.yy); });
  columns.add("dec_err", "arcsec", "stat.error;pos.eq.dec", "Error of the centre towards north",
              [](const Row& r) { return root(r.centre_cov.xx); });
}

template <class Row>
void add_native(RowColumns<Row>& columns, const std::string& start, const std::string& ucd,
                const std::string& of_what, const std::string& which) {
  columns.add(start + "lon_deg_cont", "deg", ucd.empty() ? "pos" : ucd + ".lon",
              of_what + " longitude of the " + which + " centre",
              [](const Row& r) { return r.sky.native.longitude; });
  columns.add(start + "lat_deg_cont", "deg", ucd.empty() ? "pos" : ucd + ".lat",
              of_what + " latitude of the " + which + " centre",
              [](const Row& r) { return r.sky.native.latitude; });
}

/// The columns of positions and their errors on the sky, from members `sky` and `centre_cov` of
/// the rows. \param which  centre: "flux-weighted"
template <class Row>
void add_positions(RowColumns<Row>& columns, const Wcs& wcs, const std::string& which) {
  switch (wcs.system()) {
    case SkySystem::equatorial:
      add_equatorial(columns, wcs.frame(), which);
      break;
    case SkySystem::galactic:
      add_equatorial(columns, "ICRS", which);
      add_native(columns, "g", "pos.galactic", "Galactic", which);
      break;
    case SkySystem::ecliptic:
      add_native(columns, "e", "pos.ecliptic", "Ecliptic", which);
      break;
    case SkySystem::other:
      add_native(columns, "", "", "The image's", which);
      break;
  }
}

/// The column of the frequency [Hz], if it is known.
template <class Row>
void add_frequency(RowColumns<Row>& columns, double frequency) {
  if (!(frequency > 0)) return;
  columns.add("freq", "Hz", "em.freq", "Frequency of the image, from its axis FREQ",
              [frequency](const Row&) { return frequency; });
}

}  // namespace kastor::io::detail

#endif
