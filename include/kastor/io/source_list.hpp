// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_SOURCE_LIST_HPP
#define KASTOR_IO_SOURCE_LIST_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <kastor/io/sky_frame.hpp>
#include <kastor/io/table_reader.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

/// What a column of a catalogue can hold. `flux_sum` is a sum of pixels; it differs from the flux
/// density `flux_int` in the unit, by the area of the beam.
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

/// The name of a quantity: "ra", "flux_peak", ...
[[nodiscard]] const char* name_of(SourceQuantity quantity);
[[nodiscard]] std::optional<SourceQuantity> source_quantity_named(const std::string& name);

/// One row of a catalogue. Values that the file does not give are NaN.
struct ListedSource {
  static constexpr double k_none = std::numeric_limits<double>::quiet_NaN();  ///< not in the file

  std::int64_t row = 0;         ///< index in the file, from 0
  std::string id;               ///< text in the file; empty if there is none
  double ra = k_none;           ///< [degree], from 0 to 360
  double dec = k_none;          ///< [degree], from -90 to 90
  double x = k_none;            ///< [pixel], from 0
  double y = k_none;            ///< [pixel], from 0
  double flux_peak = k_none;    ///< [Jy/beam] if the file has such a unit, else unchanged
  double flux_int = k_none;     ///< [Jy]
  double flux_sum = k_none;     ///< [Jy/beam], summed over pixels
  double snr = k_none;          ///< peak over noise
  double size_arcsec = k_none;  ///< FWHM of the major axis [arcsec], if its unit is an angle
  double size_pixels = k_none;  ///< the same [pixel], if its unit is pixel
};

/// Columns that a user names, in place of the recognised ones.
struct ColumnNames {
  std::map<SourceQuantity, std::string> names;  ///< one column per quantity
  /// Index of the first pixel in x and y, 0 or 1; if not given, the convention of the columns'
  /// names.
  std::optional<int> pixel_origin;
};

/// A catalogue of sources from any program.
struct SourceList {
  std::string path;                                ///< path of the file
  TableFileFormat format = TableFileFormat::text;  ///< format of the file
  std::vector<ListedSource> sources;               ///< all rows

  /// Names of the columns that were used; empty if there is none.
  std::array<std::string, k_source_quantities> columns;
  /// Their units after conversion: "Jy", another unit of the file, or empty if there is none.
  std::array<std::string, k_source_quantities> units;
  /// Median of the sizes in the file [arcsec]; NaN if there are none.
  double median_size_arcsec = ListedSource::k_none;
  double median_size_pixels = ListedSource::k_none;  ///< the same [pixel]
  /// Frame of ra and dec, as far as the file or the names of the columns say it.
  std::optional<SkyFrame> frame;
  std::vector<std::string> notes;  ///< what to know about the file: one sentence each

  /// The name of the column that holds a quantity.
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
  /// Whether there are values of `snr`: a column of its own, or peak and noise.
  [[nodiscard]] bool has_snr() const;
};

/// Reads a catalogue of sources: the first table of the file that has positions (see `read_table()`
/// for the formats).
///
/// Columns are recognised by name, in upper or lower case: those of Kastor's catalogues and of the
/// source lists of `kastor simulate sky`, of Aegean, PyBDSF, Selavy, SExtractor, SEP and photutils,
/// and the usual names of right ascension and declination, as in Gaia, SIMBAD and VizieR, of
/// galactic coordinates, and of those of B1950. Units of angles and of flux densities (from nJy to
/// MJy, per beam or not) are used if the file gives them. Numbers without a unit are positions in
/// degrees. X_IMAGE, Y_IMAGE and similar columns count from 1. S/N is a column, or the peak over
/// the noise.
///
/// Columns of degrees are preferred to sexagesimal text, which is read as hours (right ascension)
/// and degrees: "17 45 40.04", "-29:00:28.1", "17h45m40.04s". Galactic positions are converted to
/// ICRS. Sizes without a unit are in that of the program that wrote the table, if its columns show
/// which, else they are not used; standard deviations are converted to FWHM.
/// \throws kastor::Error if there are no positions, if their column occurs twice, if a named column
/// is missing, if a unit is not an angle (or not pixel), or if a text is not a position
[[nodiscard]] SourceList read_source_list(const std::string& path, const ColumnNames& named = {});

/// The same of a table that is not in a file.  \param name  what messages call it
[[nodiscard]] SourceList source_list_of(const Table& table, const std::string& name);

}  // namespace kastor::io

#endif
