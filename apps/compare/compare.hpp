// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_COMPARE_COMPARE_HPP
#define KASTOR_APPS_COMPARE_COMPARE_HPP

#include <array>
#include <kastor/io/catalogue_comparison.hpp>
#include <optional>
#include <string>

#include "cli/options/options.hpp"
#include "cli/run/session.hpp"

namespace kastor::cli {

struct ComparedCatalogue {
  std::string path;
  std::string columns_as_typed;
  io::ColumnNames columns;
};

/// All options of `kastor compare`.
struct CompareOptions {
  std::array<ComparedCatalogue, 2> catalogues;
  io::ComparisonParams params;
  std::optional<std::string> output;
  bool overwrite = false;
  bool json = false;
  RunOptions run;
};

/// Adds `--radius` and `--pixels`, which exclude each other.
void add_match_options(CommandLine& line, io::ComparisonParams& params);

/// Matches the catalogues, and writes the pairs to `pairs` if `options.output` names their format.
/// Returns the text or the JSON.
[[nodiscard]] std::string compare_catalogues(Session& session, const CompareOptions& options,
                                             const std::string& pairs);

}  // namespace kastor::cli

#endif
