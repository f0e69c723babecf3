// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_FITS_FILE_HPP
#define KASTOR_SRC_IO_FITS_FITS_FILE_HPP

#include <fitsio.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/fits/unpack.hpp"

namespace kastor::io::detail {

/// CFITSIO's text for `status` and its whole message stack, joined by "; ". Clears the stack.
[[nodiscard]] std::string cfitsio_messages(int status);

/// How a file is going to be read. `by_rows` refuses what cannot be sought: a packed file.
enum class Access { as_whole, by_rows };

/// A FITS file open for reading, one HDU at a time.
class FitsFile {
 public:
  /// Opens the regular file with this literal name.
  /// \param max_unpacked  what a compressed file may unpack to [byte], as in `ReadOptions`
  /// \throws kastor::Error
  FitsFile(const std::string& path, std::int64_t max_unpacked, Access access = Access::as_whole);
  /// With the limit that holds if none was chosen, which messages do not offer to raise.
  explicit FitsFile(const std::string& path);
  ~FitsFile();
  FitsFile(const FitsFile&) = delete;
  FitsFile& operator=(const FitsFile&) = delete;

  [[nodiscard]] fitsfile* get() const { return m_fits; }
  [[nodiscard]] int hdu() const { return m_hdu; }
  /// "gzip", "bzip2" or empty: how the whole file is compressed.
  [[nodiscard]] const std::string& packing() const { return m_packing; }
  /// Size of the (unpacked) file [byte].
  [[nodiscard]] std::int64_t size() const { return m_size; }
  /// What a compressed file, or a compressed image in it, may unpack to [byte].
  [[nodiscard]] std::int64_t unpacked_limit() const { return m_unpacked_limit; }

  /// Moves to the next HDU. False at the end of the file, or if what follows is not an HDU;
  /// `end_reason()` says why, and is empty at a regular end.
  [[nodiscard]] bool next_hdu();
  [[nodiscard]] const std::string& end_reason() const { return m_end_reason; }

  /// Offsets in the unpacked file of the current HDU's data unit and of the byte after it (whole
  /// 2880-byte blocks).
  struct DataUnit {
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] DataUnit data_unit() const;

  /// Reads up to `count` bytes at `offset` of the unpacked file, without conversion; returns how
  /// many there were.
  [[nodiscard]] std::size_t read_bytes(std::int64_t offset, std::byte* bytes,
                                       std::size_t count) const;

  /// Tells the system whether small reads at places far apart follow, which it need not extend.
  void expect_samples(bool follow) const;
  /// Asks the system to fetch bytes that will be read soon, without waiting for them.
  void fetch(std::int64_t offset, std::int64_t count) const;

  /// Throws `FILE[HDU]: message`.
  [[noreturn]] void fail(std::string_view message) const;
  /// Throws if CFITSIO's `status` is an error: `FILE[HDU]: doing: CFITSIO's messages`.
  void check(int status, std::string_view doing) const;

 private:
  FitsFile(const std::string& path, std::int64_t max_unpacked, Access access, bool has_option);
  void open_descriptor();
  void detect_packing();
  void refuse_packing() const;
  void unpack();
  void open_cfitsio();
  void close() noexcept;
  [[nodiscard]] std::string name_for_cfitsio() const;
  [[nodiscard]] std::string readable(std::string messages) const;

  std::string m_path;
  std::string m_opened_as;  // the name under which CFITSIO opened the file
  std::string m_packing;
  std::string m_end_reason;
  GrowingBytes m_unpacked;        // of a packed file
  void* m_memory = nullptr;       // the same for CFITSIO, which keeps the address of this
  std::size_t m_memory_size = 0;  // likewise
  fitsfile* m_fits = nullptr;
  int m_descriptor = -1;
  int m_hdu = -1;  // from 0; -1 before the first
  std::int64_t m_size = 0;
  std::int64_t m_unpacked_limit = 0;
  bool m_has_limit_option = true;
};

}  // namespace kastor::io::detail

#endif
