// SPDX-License-Identifier: Apache-2.0
#include "io/fits/fits_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <kastor/error.hpp>
#include <new>
#include <utility>

#include "io/fits/header_scan.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

// CFITSIO's buffers for names have 1025 characters, and it appends suffixes.
constexpr std::size_t k_max_name = 1000;

bool starts_with(const std::array<char, 6>& head, std::string_view magic) {
  return std::string_view(head.data(), head.size()).substr(0, magic.size()) == magic;
}

std::size_t pread_all(int descriptor, std::int64_t offset, std::byte* bytes, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t got =
        ::pread(descriptor, bytes + done, count - done, offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

std::string cfitsio_messages(int status) {
  std::array<char, FLEN_STATUS> summary{};
  fits_get_errstatus(status, summary.data());
  std::string text = fmt::format("CFITSIO {}: {}", status, summary.data());
  std::array<char, FLEN_ERRMSG> message{};
  while (fits_read_errmsg(message.data()) != 0) {
    if (message[0] != '\0') text += fmt::format("; {}", trimmed(message.data()));
  }
  return printable_ascii(text);
}

FitsFile::FitsFile(const std::string& path, std::int64_t max_unpacked, Access access)
    : FitsFile(path, max_unpacked, access, true) {}

FitsFile::FitsFile(const std::string& path) : FitsFile(path, 0, Access::as_whole, false) {}

FitsFile::FitsFile(const std::string& path, std::int64_t max_unpacked, Access access,
                   bool has_option)
    : m_path(path),
      m_unpacked_limit(max_unpacked > 0 ? max_unpacked : default_unpacked_limit()),
      m_has_limit_option(has_option) {
  try {
    open_descriptor();
    detect_packing();
    if (access == Access::by_rows) refuse_packing();
    unpack();
    open_cfitsio();
  } catch (...) {
    close();
    throw;
  }
}

FitsFile::~FitsFile() { close(); }

void FitsFile::close() noexcept {
  if (m_fits != nullptr) {
    int status = 0;
    fits_close_file(std::exchange(m_fits, nullptr), &status);
    fits_clear_errmsg();
  }
  if (m_descriptor >= 0) ::close(std::exchange(m_descriptor, -1));
}

void FitsFile::open_descriptor() {
  if (m_path.find('\0') != std::string::npos)
    fail("the name contains a NUL character; expected a file name");
  // Check before opening: to open a FIFO or a device can block or have side effects.
  struct stat info {};
  if (m_path.empty() || ::stat(m_path.c_str(), &info) != 0) {
    const int reason = m_path.empty() ? ENOENT : errno;
    if (reason == ENOENT)
      fail("no such file; expected the name of a FITS file (no filter syntax, no URL)");
    fail(fmt::format("{}; expected a FITS file that can be read", std::strerror(reason)));
  }
  if (S_ISDIR(info.st_mode)) fail("is a directory; expected a FITS file");
  if (S_ISREG(info.st_mode))
    m_descriptor = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (S_ISREG(info.st_mode) && m_descriptor < 0) {
    fail(fmt::format("{}; expected a FITS file that can be read", std::strerror(errno)));
  }
  if (m_descriptor < 0 || ::fstat(m_descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    fail("is not a regular file (a pipe, socket or device); expected a FITS file");
  }
  m_size = info.st_size;
  if (m_size == 0) fail("is empty; expected a FITS file");
}

void FitsFile::detect_packing() {
  std::array<char, 6> head{};
  try {
    (void)pread_all(m_descriptor, 0, reinterpret_cast<std::byte*>(head.data()), head.size());
  } catch (const Error& error) {
    fail(fmt::format("{}; expected a FITS file that can be read", error.what()));
  }
  // Decide by content, as CFITSIO does. Its other formats (compress, pack, zip) are old and rare,
  // and are refused.
  if (starts_with(head, "\x1f\x8b")) {
    m_packing = "gzip";
  } else if (starts_with(head, "BZh")) {
    m_packing = "bzip2";
  } else if (starts_with(head, "PK") || starts_with(head, "\x1f\x1e") ||
             starts_with(head, "\x1f\x9d") || starts_with(head, "\x1f\xa0")) {
    fail(
        "is compressed by zip, compress or pack; expected a FITS file, plain or compressed by gzip "
        "or bzip2");
  } else if (!starts_with(head, "SIMPLE")) {
    fail(
        "does not begin with SIMPLE, so it is not a FITS file; expected one, plain or compressed "
        "by gzip or bzip2");
  }
}

void FitsFile::refuse_packing() const {
  if (m_packing.empty()) return;
  fail(
      fmt::format("is compressed as a whole by {}, so it cannot be read by rows; expected the "
                  "unpacked file ({} -d), or an image that fits into memory",
                  m_packing, m_packing));
}

void FitsFile::unpack() {
  if (m_packing.empty()) return;
  if (m_packing == "bzip2" && m_path.find(".bz2") == std::string::npos)
    fail("is compressed by bzip2; expected .bz2 in the name of such a file");
  const PackedFile packed{m_descriptor, m_size, m_unpacked_limit, m_has_limit_option};
  try {
    m_packing == "gzip" ? unpack_gzip(packed, m_unpacked) : unpack_bzip2(packed, m_unpacked);
  } catch (const ResourceError&) {
    throw;
  } catch (const Error& error) {
    fail(error.what());
  } catch (const std::bad_alloc&) {
    fail(
        fmt::format("unpacks to more than {} bytes, for which there is not enough memory; expected "
                    "a smaller file",
                    m_unpacked.size()));
  }
  m_size = m_unpacked.size();
}

std::string FitsFile::name_for_cfitsio() const {
  if (!m_packing.empty()) return "an-unpacked-FITS-file";  // shown in messages only
  // The file that was checked, under a name that has no characters with a special meaning for
  // CFITSIO.
  std::string name = fmt::format("/proc/self/fd/{}", m_descriptor);
  struct stat by_name {};
  struct stat by_descriptor {};
  if (::stat(name.c_str(), &by_name) == 0 && ::fstat(m_descriptor, &by_descriptor) == 0 &&
      by_name.st_dev == by_descriptor.st_dev && by_name.st_ino == by_descriptor.st_ino) {
    return name;
  }
  // "./" prevents CFITSIO from expanding '~' and from skipping blanks.
  name = m_path.front() == '/' ? m_path : "./" + m_path;
  if (name.size() > k_max_name) {
    fail(fmt::format("the name is {} characters long; expected at most {}", name.size(),
                     k_max_name));
  }
  return name;
}

void FitsFile::open_cfitsio() {
  m_opened_as = name_for_cfitsio();
  if (const std::string fault = header_fault(*this, 0); !fault.empty())
    fail(fmt::format("{}; expected a valid FITS header", fault));
  fits_clear_errmsg();
  int status = 0;
  if (m_packing.empty()) {
    // The "diskfile" function takes the name literally. It would look for NAME.gz only if NAME were
    // missing.
    fits_open_diskfile(&m_fits, m_opened_as.c_str(), READONLY, &status);
  } else {
    m_memory = m_unpacked.data();
    m_memory_size = static_cast<std::size_t>(m_size);
    fits_open_memfile(&m_fits, m_opened_as.c_str(), READONLY, &m_memory, &m_memory_size, 0, nullptr,
                      &status);
  }
  if (status != 0) {
    m_fits = nullptr;
    fail(fmt::format("cannot be read as FITS{}: {}; expected a valid FITS file",
                     m_packing.empty() ? "" : " compressed by " + m_packing,
                     readable(cfitsio_messages(status))));
  }
  m_hdu = 0;
}

bool FitsFile::next_hdu() {
  const DataUnit here = data_unit();
  if (here.end < here.start) {
    m_end_reason = "the header claims an impossible amount of data";
    return false;
  }
  if (here.end >= m_size) return false;
  if (std::string fault = header_fault(*this, here.end); !fault.empty()) {
    m_end_reason = std::move(fault);
    return false;
  }
  int status = 0;
  fits_movrel_hdu(m_fits, 1, nullptr, &status);
  if (status == END_OF_FILE) {
    fits_clear_errmsg();
    return false;
  }
  if (status != 0) {
    m_end_reason = readable(cfitsio_messages(status));
    return false;
  }
  ++m_hdu;
  return true;
}

FitsFile::DataUnit FitsFile::data_unit() const {
  LONGLONG header = 0;
  LONGLONG start = 0;
  LONGLONG end = 0;
  int status = 0;
  fits_get_hduaddrll(m_fits, &header, &start, &end, &status);
  check(status, "finding the data");
  return {start, end};
}

std::size_t FitsFile::read_bytes(std::int64_t offset, std::byte* bytes, std::size_t count) const {
  if (m_packing.empty()) {
    try {
      return pread_all(m_descriptor, offset, bytes, count);
    } catch (const Error& error) {
      fail(fmt::format("reading the data: {}; expected a readable file", error.what()));
    }
  }
  const std::int64_t left = offset < 0 ? 0 : std::max<std::int64_t>(0, m_size - offset);
  const auto length = static_cast<std::size_t>(std::min(left, static_cast<std::int64_t>(count)));
  if (length > 0) std::memcpy(bytes, m_unpacked.data() + offset, length);
  return length;
}

void FitsFile::expect_samples(bool follow) const {
#if defined(POSIX_FADV_RANDOM)
  const int advice = follow ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL;
  if (m_packing.empty()) (void)::posix_fadvise(m_descriptor, 0, 0, advice);
#else
  (void)follow;
#endif
}

void FitsFile::fetch(std::int64_t offset, std::int64_t count) const {
#if defined(POSIX_FADV_WILLNEED)
  if (m_packing.empty()) (void)::posix_fadvise(m_descriptor, offset, count, POSIX_FADV_WILLNEED);
#else
  (void)offset;
  (void)count;
#endif
}

std::string FitsFile::readable(std::string messages) const {
  const std::string shown = one_line(m_path);
  for (std::size_t at = messages.find(m_opened_as); at != std::string::npos;
       at = messages.find(m_opened_as, at + shown.size())) {
    messages.replace(at, m_opened_as.size(), shown);
  }
  return messages;
}

void FitsFile::fail(std::string_view message) const {
  const std::string where = m_hdu < 0 ? "" : fmt::format("[{}]", m_hdu);
  throw Error(fmt::format("{}{}: {}", one_line(m_path), where, one_line(message)));
}

void FitsFile::check(int status, std::string_view doing) const {
  if (status != 0) {
    fail(fmt::format("{}: {}; expected a valid FITS file", doing,
                     readable(cfitsio_messages(status))));
  }
}

}  // namespace kastor::io::detail
