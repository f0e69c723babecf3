// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TEXT_FILE_HPP
#define KASTOR_SRC_IO_TABLE_TEXT_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/output/output_file.hpp"

namespace kastor::io::detail {

/// A text file being written piece by piece. Numbers do not depend on the locale.
class TextFile {
 public:
  explicit TextFile(const std::string& path) : m_file(path) {}

  void add(std::string_view text);
  void add(std::int64_t value);
  /// With 17 significant digits, which bring every double back; a NaN is `nan`, its sign says
  /// nothing.
  void add_digits(double value);
  /// The shortest text that brings the value back; `nan`, `inf`, `-inf`.
  void add_shortest(double value);
  /// To be called before the file counts as written.
  void close();

 private:
  OutputFile m_file;
  std::string m_text;
};

}  // namespace kastor::io::detail

#endif
