// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_STREAMS_HPP
#define KASTOR_APPS_CLI_REPORT_STREAMS_HPP

#include <string>

namespace kastor::cli {

/// Writes a result to stdout, down to the system. \throws kastor::Error if it cannot be written
/// whole.
void print_result(const std::string& text);

/// To be called first of all: a standard stream that the caller closed must not become the number
/// of an output file, and a reader that has gone must be a failed write, not the end of the process
/// between two outputs.
void make_streams_safe();

}  // namespace kastor::cli

#endif
