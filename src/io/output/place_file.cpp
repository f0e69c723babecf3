// SPDX-License-Identifier: Apache-2.0
#include "io/output/place_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace kastor::io::detail {
namespace {

std::string not_renamed(const std::string& why, const char* expected) {
  return fmt::format("cannot be renamed into place: {}; expected {}", why, expected);
}

std::string not_renamed(int error) {
  return not_renamed(std::strerror(error), "a writable directory");
}

/// Renames a file, but replaces none: the file system sees to it, unless it knows neither
/// RENAME_NOREPLACE nor hard links. Sets errno.
bool rename_to_new(const char* from, const char* to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  // EPERM: what some containers answer to a system call that they do not know.
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP && errno != EPERM) return false;
#endif
  if (::link(from, to) == 0) return ::unlink(from) == 0;
  if (errno == EEXIST) return false;
  struct stat info {};
  if (::lstat(to, &info) == 0) {
    errno = EEXIST;
    return false;
  }
  return ::rename(from, to) == 0;
}

Placed place_new(const std::string& temporary, const std::string& target) {
  if (rename_to_new(temporary.c_str(), target.c_str())) return {};
  if (errno != EEXIST) return {false, not_renamed(errno)};
  return {false, not_renamed(fmt::format("{} (it appeared meanwhile)", std::strerror(EEXIST)),
                             "a new file, or --overwrite")};
}

bool set_mode(const std::string& path, mode_t mode) { return ::chmod(path.c_str(), mode) == 0; }

}  // namespace

Placed place_file(const std::string& temporary, const std::string& target, const Placing& how) {
  if (!how.may_replace) return place_new(temporary, target);
  // Other processes may create and remove the target at the same time.
  constexpr int attempts = 100;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    struct stat info {};
    if (::lstat(target.c_str(), &info) == 0) {
      if (!S_ISREG(info.st_mode)) {
        const char* what = S_ISDIR(info.st_mode)   ? "a directory has appeared there"
                           : S_ISLNK(info.st_mode) ? "a link has appeared there"
                                                   : "what has appeared there is no regular file";
        return {false, not_renamed(what, "a new file or a regular one")};
      }
      if (!set_mode(temporary, info.st_mode & 07777) ||
          ::rename(temporary.c_str(), target.c_str()) != 0)
        return {false, not_renamed(errno)};
      return {true, ""};
    }
    if (errno != ENOENT) return {false, not_renamed(errno)};
    if (how.mode && !set_mode(temporary, *how.mode)) return {false, not_renamed(errno)};
    if (rename_to_new(temporary.c_str(), target.c_str())) return {};
    if (errno != EEXIST) return {false, not_renamed(errno)};
  }
  return {false, not_renamed("it appears and disappears", "a name of its own")};
}

}  // namespace kastor::io::detail
