// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_COMPONENT_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_COMPONENT_OPTIONS_HPP

#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.hpp"

namespace kastor::cli {

/// What the presets other than `lesson` do unless told otherwise.
struct ComponentDefaults {
  bool deblends;  ///< islands are split
  bool fits;      ///< components are fitted for the report
  double contrast;
  std::optional<double> prominence;  ///< none: from the beam
};

/// How islands are split into their peaks, and Gaussians fitted to them.
struct ComponentOptions {
  bool deblends = false;  ///< the rows of the catalogue are parts of islands
  double contrast = 0;    ///< least light of a peak of an island [light of the island]
  /// Least height of a peak above its neighbours [local rms]; none: 0 with a beam, else 2
  std::optional<double> prominence;
  double used_prominence = 0;      ///< set from the beam
  std::vector<std::string> files;  ///< catalogues of components, as typed
  bool reports = false;            ///< components are fitted for the report alone
  bool has_beam_shape = false;     ///< the shape is fixed at the beam's
  std::optional<std::string> model, residual;

  /// Whether something is written that needs components.
  [[nodiscard]] bool are_asked_for() const { return !files.empty() || model || residual; }
};

/// `--deblend`, `--components` and what goes with them.
class ComponentOptionsParser {
 public:
  /// Those that decide what the rows of the catalogue are.
  void add_deblending_to(CommandLine& line);
  /// Those of components, which are all outputs.
  void add_components_to(CommandLine& line);
  /// Whether components are fitted, and their shape, where a report is the only output.
  void add_fitting_to(CommandLine& line);
  /// After parsing. \throws UsageError if options do not fit each other
  [[nodiscard]] ComponentOptions resolved(const ComponentDefaults& standard) const;

 private:
  void add_shape(CommandLine& line);

  std::optional<bool> m_deblends;
  std::optional<bool> m_fits;
  std::optional<double> m_contrast, m_prominence;
  std::optional<bool> m_has_beam_shape;
  ComponentOptions m_given;
};

/// The options as typed, each with a blank before it, for the provenance of an output.
/// \param deblends  whether the preset does so, so that not doing so is worth a word
[[nodiscard]] std::string component_options_as_typed(const ComponentOptions& options,
                                                     bool deblends);

}  // namespace kastor::cli

#endif
