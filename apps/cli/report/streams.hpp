// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_REPORT_STREAMS_HPP
#define KASTOR_APPS_CLI_REPORT_STREAMS_HPP

#include <string>

namespace kastor::cli {

/// Writes a result to stdout and flushes it. \throws kastor::Error if it cannot be written whole
void print_result(const std::string& text);

/// While it lives, `print_result` of this thread adds to a text instead. For one user at a time.
class CapturedResults {
 public:
  CapturedResults();
  ~CapturedResults();
  CapturedResults(const CapturedResults&) = delete;
  CapturedResults& operator=(const CapturedResults&) = delete;

  [[nodiscard]] const std::string& text() const { return m_text; }

 private:
  std::string m_text;
};

/// Call this first. An output file must not get the descriptor of a standard stream that the caller
/// closed. And if the reader of a pipe has gone or a file reaches the limit of its size (ulimit
/// -f), the write must fail instead of ending the process between two outputs.
void make_streams_safe();

}  // namespace kastor::cli

#endif
