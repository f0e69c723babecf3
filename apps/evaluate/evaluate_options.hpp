// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_EVALUATE_EVALUATE_OPTIONS_HPP
#define KASTOR_APPS_EVALUATE_EVALUATE_OPTIONS_HPP

#include <kastor/io/evaluation.hpp>
#include <kastor/io/table_writer.hpp>
#include <optional>
#include <string>
#include <vector>

#include "find/find_options.hpp"

namespace kastor::cli {

/// All options of `kastor evaluate`.
struct EvaluateOptions {
  std::string truth;
  std::vector<std::string> catalogues;  ///< none: Kastor searches the image
  std::vector<std::string> inverted;    ///< of the inverted image, in the order of `catalogues`
  double min_snr = 0;                   ///< of the truth
  io::EvaluationParams params;
  FindOptions find;  ///< the image and how it is searched, and the outputs
  std::optional<std::string> output;

  [[nodiscard]] bool searches() const { return catalogues.empty(); }
};

/// False if the user asked for help or for the configuration. \throws UsageError
[[nodiscard]] bool parse_evaluate(Arguments arguments, EvaluateOptions& options);

/// Completes the options of a search: it also finds negative islands, to count false detections by.
void settle_search(EvaluateOptions& options);

/// The format of the pairs. \throws UsageError
[[nodiscard]] io::TableFormat pairs_format(const std::string& path);

/// The options as typed, for the provenance of the pairs.
[[nodiscard]] std::string evaluate_options_as_typed(const EvaluateOptions& options);

}  // namespace kastor::cli

#endif
