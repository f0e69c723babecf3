// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_MEASURED_VALUES_HPP
#define KASTOR_SRC_IO_EVALUATION_MEASURED_VALUES_HPP

#include <kastor/io/evaluation.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "io/evaluation/source_table.hpp"

namespace kastor::io::detail {

/// A unit of fluxes or peaks.
struct MeasuredUnit {
  std::string base;       ///< "Jy" of mJy/beam, or another as written; empty if it is not known
  bool per_beam = false;  ///< of peaks: whether it is per beam
  std::string trouble;    ///< why nothing can be compared with it; empty if it can
};

/// The units of the truth and the image.
struct FluxFrame {
  bool per_beam = false;             ///< whether the image's unit is per beam
  std::string image_unit;            ///< base unit of a pixel: "Jy" of mJy/beam; may be empty
  double image_factor = 1;           ///< of a pixel's value to the base unit
  double beam_pixels = 0;            ///< area of the beam [pixel]; NaN if it is not known
  MeasuredUnit true_peak, true_int;  ///< of the truth
};

/// One quantity of all rows of a catalogue, in the unit of the truth.
struct MeasuredValues {
  std::string column, error_column, unit;
  std::string trouble;                 ///< why there are no values; empty if there are
  std::string note;                    ///< a sentence on a conversion; empty if there is none
  std::vector<double> values, errors;  ///< NaN if there is none
  MeasuredUnit flux_unit;              ///< of a column of fluxes or peaks, before conversion
  std::vector<double> as_written;      ///< of such a column, also if there is trouble; or none
};

[[nodiscard]] MeasuredValues measured_values(const SourceTable& table, MeasuredQuantity quantity,
                                             const FluxFrame& frame, const Wcs* wcs);

/// Fluxes or peaks of the truth in their own base unit, which becomes that of the frame.
/// \param quantity  flux_int or flux_peak
[[nodiscard]] MeasuredValues true_values(const SourceTable& table, MeasuredQuantity quantity,
                                         FluxFrame& frame);
/// A column of noise in the unit of the true peaks; NaN if there is none or the units differ in
/// kind. Without a unit it has that of the peaks.
[[nodiscard]] std::vector<double> true_noise(const SourceTable& table, std::string_view name,
                                             const FluxFrame& frame);
/// A column of lengths of this unit, on the sky or in pixels, in pixels.
[[nodiscard]] MeasuredValues lengths_in_pixels(const SourceTable& table, const TableColumn& column,
                                               const std::string& unit, const Wcs* wcs);

/// S/N of each row, and what it is; empty if it is not known.
struct RowSnr {
  std::string by;
  std::vector<double> values;
};
/// S/N of the peak; else the flux over its error.
[[nodiscard]] RowSnr row_snr(const SourceTable& table, const std::vector<MeasuredValues>& measured);

}  // namespace kastor::io::detail

#endif
