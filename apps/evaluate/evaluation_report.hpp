// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_EVALUATE_EVALUATION_REPORT_HPP
#define KASTOR_APPS_EVALUATE_EVALUATION_REPORT_HPP

#include <kastor/io/evaluation.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::cli {

/// What was evaluated.
struct EvaluationReport {
  std::string image;      ///< file of the image
  int hdu = 0;            ///< its HDU
  std::string truth;      ///< file of the truth
  std::string catalogue;  ///< file of the catalogue; empty if Kastor searched
  std::string inverted;   ///< file of the catalogue of the inverse; empty if there is none
  std::string search;     ///< options of the search; empty with a catalogue
  const io::EvaluationParams& params;
  const io::Evaluation& evaluation;
  std::vector<std::string> notes;  ///< all of them
};

/// In at most 100 columns.
[[nodiscard]] std::string evaluation_text(const EvaluationReport& report);
/// One line.
[[nodiscard]] std::string evaluation_json(const EvaluationReport& report);

}  // namespace kastor::cli

#endif
