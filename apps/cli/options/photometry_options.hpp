// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_PHOTOMETRY_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_PHOTOMETRY_OPTIONS_HPP

#include <kastor/io/fits_image.hpp>
#include <optional>
#include <string>

#include "cli/options/command_line.hpp"
#include "cli/options/given_options.hpp"

namespace kastor::cli {

/// What a camera's image needs for fluxes, errors and magnitudes.
struct PhotometryOptions {
  std::optional<double> gain;        ///< [electron / image unit]
  std::optional<double> zero_point;  ///< magnitude of a flux of 1 [mag]
  std::optional<GivenFile> weight;   ///< relative weights, or times of exposure
  bool is_exposure = false;

  /// The option that gives `weight`.
  [[nodiscard]] const char* weight_option() const {
    return is_exposure ? "--exposure" : "--weight";
  }
};

/// `--gain`, `--zero-point`, `--weight` and `--exposure`.
class PhotometryOptionsParser {
 public:
  void add_to(CommandLine& line);
  /// After parsing. \throws UsageError if options do not fit each other
  [[nodiscard]] PhotometryOptions resolved(bool has_rms) const;

 private:
  PhotometryOptions m_given;
  std::optional<std::string> m_weight, m_exposure;  // as typed
  io::ReadOptions m_weight_part, m_exposure_part;
};

/// The options as typed, each with a blank before it, for the provenance of an output.
[[nodiscard]] std::string photometry_options_as_typed(const PhotometryOptions& options);

}  // namespace kastor::cli

#endif
