// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TEXT_FILE_HPP
#define KASTOR_SRC_IO_TABLE_TEXT_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/output/output_file.hpp"

namespace kastor::io::detail {

/// A text file that is written piece by piece. Numbers do not depend on the locale.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : m_file(path) {}

  void add(std::string_view text);
  void add(std::int64_t value);
  /// Writes 17 significant digits, from which every double can be restored; any NaN is `nan`,
  /// whatever its sign.
  void add_digits(double value);
  /// Writes the shortest text that gives the same value; `nan`, `inf`, `-inf`.
  void add_shortest(double value);
  /// Must be called before the file counts as written.
  void close();

 private:
  OutputFile m_file;
  std::string m_text;
};

}  // namespace kastor::io::detail

#endif
