// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_MEASURED_VALUES_HPP
#define KASTOR_SRC_IO_EVALUATION_MEASURED_VALUES_HPP

#include <kastor/io/evaluation.hpp>
#include <string>
#include <vector>

#include "io/evaluation/source_table.hpp"

namespace kastor::io::detail {

/// The units of the truth and the image.
struct FluxFrame {
  bool per_beam = false;            ///< whether the image's unit is per beam
  std::string image_unit;           ///< base unit of a pixel: "Jy" of mJy/beam; may be empty
  double image_factor = 1;          ///< of a pixel's value to the base unit
  double beam_pixels = 0;           ///< area of the beam [pixel]; NaN if it is not known
  std::string true_peak, true_int;  ///< base units of the truth; may be empty
};

/// One quantity of all rows of a catalogue, in the unit of the truth.
struct MeasuredValues {
  std::string column, error_column, unit;
  std::string trouble;                 ///< why there are no values; empty if there are
  std::string note;                    ///< a sentence on a conversion; empty if there is none
  std::vector<double> values, errors;  ///< NaN if there is none
};

[[nodiscard]] MeasuredValues measured_values(const SourceTable& table, MeasuredQuantity quantity,
                                             const FluxFrame& frame, const Wcs* wcs);

/// S/N of each row, and what it is; empty if it is not known.
struct RowSnr {
  std::string by;
  std::vector<double> values;
};
/// S/N of the peak; else the flux over its error.
[[nodiscard]] RowSnr row_snr(const SourceTable& table, const std::vector<MeasuredValues>& measured);

}  // namespace kastor::io::detail

#endif
