// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SOURCE_LIST_HPP
#define KASTOR_IO_SOURCE_LIST_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <kastor/io/table_reader.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

/// What a column of a catalogue may say of a source. `flux_sum` is a sum of pixels, which has
/// another unit than `flux_int`, the flux density: the beam's area lies between them.
enum class SourceQuantity {
  id,
  ra,
  dec,
  x,
  y,
  flux_peak,
  flux_int,
  flux_sum,
  snr,
  rms,   ///< noise at the source, in the unit of flux_peak
  size,  ///< FWHM of the major axis
};
inline constexpr std::size_t k_source_quantities = 11;

/// "ra", "flux_peak", ...
[[nodiscard]] const char* name_of(SourceQuantity quantity);
[[nodiscard]] std::optional<SourceQuantity> source_quantity_named(const std::string& name);

/// One row of a catalogue; NaN is what its file does not say.
struct ListedSource {
  static constexpr double k_none = std::numeric_limits<double>::quiet_NaN();  ///< not in the file

  std::int64_t row = 0;       ///< in the file, from 0
  std::string id;             ///< as in the file; empty if there is none
  double ra = k_none;         ///< [degree], from 0 to 360
  double dec = k_none;        ///< [degree], from -90 to 90
  double x = k_none;          ///< [pixel], from 0
  double y = k_none;          ///< [pixel], from 0
  double flux_peak = k_none;  ///< [Jy/beam] where the file has a unit of that kind, else as it is
  double flux_int = k_none;   ///< [Jy]
  double flux_sum = k_none;   ///< [Jy/beam], summed over pixels
  double snr = k_none;        ///< peak over noise
};

/// The columns that a user names, in place of those that are recognised.
struct ColumnNames {
  std::map<SourceQuantity, std::string> names;  ///< one column a quantity
  /// Index of the first pixel in x and y, 0 or 1; if not given, what the columns' names stand for.
  std::optional<int> pixel_origin;
};

/// A catalogue of sources, whoever made it.
struct SourceList {
  std::string path;                                ///< of the file
  TableFileFormat format = TableFileFormat::text;  ///< what its content is
  std::vector<ListedSource> sources;               ///< every row

  /// Names of the columns that were used; empty: there is none.
  std::array<std::string, k_source_quantities> columns;
  /// Their units, after the conversions: "Jy", another one of the file's, or empty if it has none.
  std::array<std::string, k_source_quantities> units;
  /// Median of the sizes that the file tells [arcsec, pixel]; NaN if it tells none.
  double median_size_arcsec = ListedSource::k_none;
  double median_size_pixels = ListedSource::k_none;  ///< likewise in pixels

  /// The name of the column of a quantity.
  [[nodiscard]] const std::string& column(SourceQuantity quantity) const {
    return columns[static_cast<std::size_t>(quantity)];
  }
  /// The unit of a quantity.
  [[nodiscard]] const std::string& unit(SourceQuantity quantity) const {
    return units[static_cast<std::size_t>(quantity)];
  }
  /// Whether there are positions on the sky.
  [[nodiscard]] bool has_sky() const { return !column(SourceQuantity::ra).empty(); }
  /// Whether there are positions in pixels.
  [[nodiscard]] bool has_pixels() const { return !column(SourceQuantity::x).empty(); }
  /// Whether there are numbers for `snr`: a column of its own, or peak and noise.
  [[nodiscard]] bool has_snr() const;
};

/// Reads a catalogue of sources (see `read_table()` for the formats), the first table of the file
/// that has positions.
///
/// Columns are recognised by their names, whatever the case: those of Kastor's catalogues and of
/// the truth of `kastor simulate sky`, of Aegean, PyBDSF, Selavy, SExtractor, SEP and photutils,
/// and the usual names of right ascension and declination. Units of angles and of flux densities
/// (from nJy to MJy, per beam or not) are taken into account where the file tells them; angles
/// without a unit are degrees, sizes what the program of that name writes. X_IMAGE, Y_IMAGE and
/// their kin count from 1. S/N is its own column, or the peak over the noise.
/// \throws kastor::Error if there are no positions, a column named is not there, or a unit is no
///   angle
[[nodiscard]] SourceList read_source_list(const std::string& path, const ColumnNames& named = {});

}  // namespace kastor::io

#endif
