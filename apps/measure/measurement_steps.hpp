// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MEASURE_MEASUREMENT_STEPS_HPP
#define KASTOR_APPS_MEASURE_MEASUREMENT_STEPS_HPP

#include <string>
#include <vector>

#include "measure/measure_options.hpp"
#include "measure/measurement_report.hpp"

namespace kastor::cli {

/// Completes the options by the header of the image, and reads the list.
/// \throws Error if the list cannot be read, or nothing can be measured with it
void settle_measurement(MeasureOptions& options, Measurement& measurement);

/// Makes the table of what was measured, with the notes of all that was done.
void make_table(Measurement& measurement);

/// Writes the table to the outputs of the options. \param temporaries  their temporary names
void write_measurement(const std::vector<std::string>& temporaries, const MeasureOptions& options,
                       const Measurement& measurement);

}  // namespace kastor::cli

#endif
