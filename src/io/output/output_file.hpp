// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_OUTPUT_FILE_HPP
#define KASTOR_SRC_IO_OUTPUT_OUTPUT_FILE_HPP

#include <cstddef>
#include <string>

namespace kastor::io::detail {

/// A file that is written from its beginning. Every error is a kastor::Error that names the file.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t size);
  /// Must be called before the file counts as written: some file systems report a full disk only
  /// now.
  void close();

 private:
  [[noreturn]] void fail(const char* doing) const;

  std::string m_path;
  int m_descriptor = -1;
};

}  // namespace kastor::io::detail

#endif
