// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_OUTPUT_OUTPUT_FILE_HPP
#define KASTOR_SRC_IO_OUTPUT_OUTPUT_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace kastor::io::detail {

/// A file that is written, from its beginning or at given places. Every error is a kastor::Error
/// that names the file.
class OutputFile {
 public:
  enum class Start { empty, as_it_is };

  /// Creates the file, or empties it; or opens one that is there.
  explicit OutputFile(const std::string& path, Start start = Start::empty);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t size);
  /// \param offset  from the beginning of the file [byte]
  void write_at(std::int64_t offset, const void* data, std::size_t size);
  /// Cuts the file, or appends zeros. \throws kastor::Error if the file system has no room for it
  void set_size(std::int64_t size);
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
