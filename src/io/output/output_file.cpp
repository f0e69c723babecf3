// SPDX-License-Identifier: Apache-2.0
#include "io/output/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <kastor/error.hpp>
#include <utility>

#include "io/output/signal_cleanup.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {

OutputFile::OutputFile(const std::string& path, Start start) : m_path(path) {
  {
    // A file that a signal has just removed must not reappear.
    const UninterruptedSection section;
    const int flags = start == Start::empty ? O_CREAT | O_TRUNC : 0;
    m_descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  }
  if (m_descriptor < 0) fail("opened for writing");
}

OutputFile::~OutputFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void OutputFile::write(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::write(m_descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("written");
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
}

void OutputFile::write_at(std::int64_t offset, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::pwrite(m_descriptor, bytes, size, offset);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("written");
    bytes += done;
    offset += done;
    size -= static_cast<std::size_t>(done);
  }
}

void OutputFile::set_size(std::int64_t size) {
  struct statvfs disk {};
  // Some file systems do not know their size.
  if (::fstatvfs(m_descriptor, &disk) == 0 && disk.f_blocks > 0 &&
      disk.f_bavail < static_cast<std::uint64_t>(size) / disk.f_frsize) {
    throw Error(fmt::format(
        "{}: cannot be written: {} (it takes {} bytes, and {} are free); expected room for it",
        shown_output(m_path), std::strerror(ENOSPC), size, disk.f_bavail * disk.f_frsize));
  }
  if (::ftruncate(m_descriptor, size) != 0) fail("written");
}

void OutputFile::close() {
  if (::close(std::exchange(m_descriptor, -1)) != 0) fail("written");
}

void OutputFile::fail(const char* doing) const {
  const int error = errno;
  const bool is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw Error(fmt::format("{}: cannot be {}: {}; expected {}", shown_output(m_path), doing,
                          std::strerror(error), is_full ? "room for it" : "a writable file"));
}

}  // namespace kastor::io::detail
