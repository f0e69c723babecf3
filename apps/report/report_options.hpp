// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_REPORT_REPORT_OPTIONS_HPP
#define KASTOR_APPS_REPORT_REPORT_OPTIONS_HPP

#include <optional>
#include <string>
#include <vector>

#include "compare/compare.hpp"
#include "evaluate/evaluate_options.hpp"
#include "find/find_options.hpp"

namespace kastor::cli {

/// All options of `kastor report`.
struct ReportOptions {
  FindOptions find;
  std::optional<std::string> truth, reference;
  io::ComparisonParams match;  ///< of both
  std::string page;
  std::optional<std::string> python;

  [[nodiscard]] std::vector<std::string> inputs() const;
  /// How the search is evaluated against the truth.
  [[nodiscard]] EvaluateOptions evaluation() const;
  /// How the reference is compared with the catalogue at `found`.
  [[nodiscard]] CompareOptions comparison(const std::string& found) const;
};

/// False if the user asked for help or for the configuration. \throws UsageError
[[nodiscard]] bool parse_report(Arguments arguments, ReportOptions& options);

}  // namespace kastor::cli

#endif
