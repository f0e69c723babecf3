// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_TRUTH_WRITER_HPP
#define KASTOR_APPS_CLI_RUN_TRUTH_WRITER_HPP

#include <kastor/simulate.hpp>
#include <string>
#include <vector>

namespace kastor::cli {

/// Writes the true sources as CSV, like the catalogues: header line first, 17 significant digits,
/// no comments. \throws kastor::Error
void write_truth(const std::string& path, const std::vector<TrueSource>& truth);

}  // namespace kastor::cli

#endif
