// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_UNPACK_HPP
#define KASTOR_SRC_IO_FITS_UNPACK_HPP

#include <cstddef>
#include <cstdint>

namespace kastor::io::detail {

/// Bytes in memory that can grow without being copied twice, as `std::vector` would.
class GrowingBytes {
 public:
  GrowingBytes() = default;
  ~GrowingBytes();
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;

  [[nodiscard]] char* data() const { return m_data; }
  [[nodiscard]] std::int64_t size() const { return m_size; }
  /// Room after `size()`.
  [[nodiscard]] std::int64_t room() const { return m_capacity - m_size; }
  /// \throws std::bad_alloc
  void reserve(std::int64_t capacity);
  /// Counts bytes that were written after `size()`.
  void extend(std::int64_t count) { m_size += count; }

 private:
  char* m_data = nullptr;
  std::int64_t m_size = 0;
  std::int64_t m_capacity = 0;
};

/// A file that is to be unpacked.
struct PackedFile {
  int descriptor = -1;
  std::int64_t size = 0;   // [byte]
  std::int64_t limit = 0;  // of what it unpacks to [byte]
  bool has_option = true;  // that sets the limit: messages name it
};

/// Unpack a file compressed by gzip, of one member (RFC 1952), or by bzip2, of any number of
/// streams, of which the bytes after the last one are ignored. They stop where what they unpacked
/// does not begin as a FITS file does, or is longer than the limit.
/// \throws kastor::Error  says what was found and expected, without the file's name
void unpack_gzip(const PackedFile& file, GrowingBytes& unpacked);
void unpack_bzip2(const PackedFile& file, GrowingBytes& unpacked);

/// The limit that holds if none was chosen: 16 GiB, and never more than this machine's memory.
[[nodiscard]] std::int64_t default_unpacked_limit();

}  // namespace kastor::io::detail

#endif
