// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_FITS_FILE_HPP
#define KASTOR_SRC_IO_FITS_FITS_FILE_HPP

#include <fitsio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// CFITSIO's text for `status` and its whole message stack, joined by "; ". Empties the stack.
[[nodiscard]] std::string cfitsio_messages(int status);

/// A FITS file open for reading, at one HDU at a time.
class FitsFile {
 public:
  /// Opens the regular file of exactly that name. \throws kastor::Error
  explicit FitsFile(const std::string& path);
  ~FitsFile();
  FitsFile(const FitsFile&) = delete;
  FitsFile& operator=(const FitsFile&) = delete;

  [[nodiscard]] fitsfile* get() const { return m_fits; }
  [[nodiscard]] int hdu() const { return m_hdu; }
  /// "gzip", "bzip2" or empty: how the whole file is compressed.
  [[nodiscard]] const std::string& packing() const { return m_packing; }
  /// Bytes of the (unpacked) file.
  [[nodiscard]] std::int64_t size() const { return m_size; }

  /// Goes to the next HDU; false at the end of the file, or where what follows is no HDU. Why it
  /// stopped is `end_reason()`, empty at a plain end.
  [[nodiscard]] bool next_hdu();
  [[nodiscard]] const std::string& end_reason() const { return m_end_reason; }

  /// Offsets of the current HDU's data unit in the unpacked file, and of the byte after it (whole
  /// 2880-byte blocks).
  struct DataUnit {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] DataUnit data_unit() const;

  /// Reads up to `count` bytes at `offset` of the unpacked file as they are; returns how many there
  /// were.
  [[nodiscard]] std::size_t read_bytes(std::int64_t offset, std::byte* bytes,
                                       std::size_t count) const;

  /// Throws `FILE[HDU]: message`.
  [[noreturn]] void fail(std::string_view message) const;
  /// Throws if CFITSIO's `status` says so: `FILE[HDU]: doing: CFITSIO's messages`.
  void check(int status, std::string_view doing) const;

 private:
  void open_descriptor();
  void detect_packing();
  void open_cfitsio();
  void check_gzip_length(std::int64_t packed_size) const;
  void close() noexcept;
  [[nodiscard]] std::string name_for_cfitsio() const;
  [[nodiscard]] bool too_many_axes(std::int64_t header_start) const;
  [[nodiscard]] std::string readable(std::string messages) const;

  std::string m_path;
  std::string m_opened_as;  // what CFITSIO was told
  std::string m_packing;
  std::string m_end_reason;
  fitsfile* m_fits = nullptr;
  int m_descriptor = -1;
  int m_hdu = -1;  // 0-based; -1 before the first
  std::int64_t m_size = 0;
};

}  // namespace kastor::io::detail

#endif
