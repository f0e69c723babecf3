// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MEASURE_MEASUREMENT_REPORT_HPP
#define KASTOR_APPS_MEASURE_MEASUREMENT_REPORT_HPP

#include <cstdint>
#include <kastor/aperture.hpp>
#include <kastor/component.hpp>
#include <kastor/io/forced_list.hpp>
#include <kastor/io/forced_table.hpp>
#include <string>
#include <vector>

#include "find/found_image.hpp"
#include "measure/measure_options.hpp"

namespace kastor::cli {

/// One image, a list, and what was measured.
struct Measurement {
  FoundImage found;  ///< the image, its header and options; nothing is found in it
  io::ForcedList list;
  Components components;                      ///< empty without fits
  std::vector<io::ApertureColumn> apertures;  ///< in the order of the options
  NoiseUsed noise;
  io::ForcedTable table;
};

/// How many rows are what.
struct MeasuredCounts {
  std::int64_t rows = 0, measured = 0, off_image = 0, blank = 0, repeated = 0, negative = 0,
               split = 0, not_converged = 0;
  std::int64_t groups = 0, largest_group = 0;
  double mean_snr = 0;  ///< of the rows measured; NaN if there are none
};
[[nodiscard]] MeasuredCounts counts_of(const Measurement& measurement);

[[nodiscard]] std::string measurement_text(const Measurement& measurement,
                                           const MeasureOptions& options);
/// One line.
[[nodiscard]] std::string measurement_json(const Measurement& measurement,
                                           const MeasureOptions& options);

}  // namespace kastor::cli

#endif
