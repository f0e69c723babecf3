// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MEASURE_MEASURE_OPTIONS_HPP
#define KASTOR_APPS_MEASURE_MEASURE_OPTIONS_HPP

#include <kastor/fit.hpp>
#include <string>
#include <vector>

#include "find/find_options.hpp"

namespace kastor::cli {

/// The radius of an aperture.
struct ApertureRadius {
  std::string text;  ///< as typed
  double pixels;
};

/// All options of `kastor measure`.
struct MeasureOptions {
  std::string list;                            ///< catalogue of positions
  FreeParameters free = FreeParameters::flux;  ///< what is fitted
  bool use_shapes = true;                      ///< those of the list, where it has any
  std::vector<ApertureRadius> apertures;       ///< none: only fits
  FindOptions find;                            ///< the image, its background, and the outputs
};

/// False if the user asked for help or for the configuration. \throws UsageError
[[nodiscard]] bool parse_measure(Arguments arguments, MeasureOptions& options);

/// The options as typed, defaults included, for the provenance of the table.
[[nodiscard]] std::string measure_options_as_typed(const MeasureOptions& options);

/// "flux", "position", "shape"
[[nodiscard]] const char* name_of(FreeParameters free);

}  // namespace kastor::cli

#endif
