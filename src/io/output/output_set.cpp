// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
#include <memory>
#include <optional>
#include <random>

#include "io/output/place_file.hpp"
#include "io/output/signal_cleanup.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw Error(fmt::format("{}: {}", detail::one_line(path), message));
}

/// The absolute name with all links followed; empty if there is no such file.
std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> name(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return name ? std::string(name.get()) : std::string();
}

struct SplitPath {
  std::string directory;  // with trailing '/', or empty
  std::string name;
};

SplitPath split(const std::string& path) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

bool same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// The absolute name of the file to write.
std::string resolve(const std::string& target, bool exists) {
  if (exists) {
    if (std::string name = real_path(target); !name.empty()) return name;
    // It has gone since.
  }
  const SplitPath parts = split(target);
  if (parts.name.empty() || parts.name == "." || parts.name == "..") {
    fail(target, "is not a file name; expected one to write to");
  }
  const std::string directory = real_path(parts.directory.empty() ? "." : parts.directory);
  struct stat info {};
  if (directory.empty() || ::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    fail(target, fmt::format("the directory '{}' does not exist; expected an existing one",
                             detail::one_line(parts.directory)));
  }
  return directory == "/" ? "/" + parts.name : directory + "/" + parts.name;
}

std::string random_letters() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  thread_local std::random_device device;
  std::string text(6, ' ');
  for (char& c : text) c = letters[device() % letters.size()];
  return text;
}

/// The beginning of a name, without a part of a UTF-8 character at its end.
std::string beginning(const std::string& name, std::size_t length) {
  if (name.size() <= length) return name;
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;
  return name.substr(0, length);
}

/// Creates an empty file beside `resolved`, and returns its name.
std::string create_beside(const std::string& target, const std::string& resolved, mode_t mode) {
  const SplitPath parts = split(resolved);
  // The usual limit of file names is 255 bytes; some file systems have a lower one.
  std::string stem = beginning(parts.name, 220);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name =
        fmt::format("{}.{}.kastor-{}.tmp", parts.directory, stem, random_letters());
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) {
      ::close(descriptor);
      return name;
    }
    if (errno == ENAMETOOLONG && stem.size() > 20) {
      stem = beginning(stem, stem.size() / 2);
      continue;
    }
    if (errno != EEXIST) {
      fail(target, fmt::format("cannot be written: {}; expected a writable directory",
                               std::strerror(errno)));
    }
  }
  fail(target, "found no free temporary name; expected a writable directory");
}

/// Removes the file if it is still the one of `placed`, which another process may have replaced.
void remove_if_same(const std::string& path, const struct stat& placed) {
  struct stat now {};
  if (::lstat(path.c_str(), &now) == 0 && same_file(now, placed)) ::unlink(path.c_str());
}

}  // namespace

OutputSet::~OutputSet() { discard(); }

void OutputSet::discard() noexcept {
  for (const Output& output : m_outputs) {
    ::unlink(output.temporary.c_str());
    detail::forget_temporary(output.slot);
  }
  m_outputs.clear();
}

std::string OutputSet::add(const std::string& target, OverwritePolicy policy,
                           const std::vector<std::string>& inputs) {
  if (target.empty() || target.find('\0') != std::string::npos)
    fail(target, "is not a file name; expected one to write to");
  struct stat info {};
  struct stat link {};
  bool exists = ::stat(target.c_str(), &info) == 0;
  if (!exists && errno == ENAMETOOLONG)
    fail(target,
         fmt::format("cannot be written: {}; expected a shorter one", std::strerror(errno)));
  if (!exists && ::lstat(target.c_str(), &link) == 0) {
    if (S_ISLNK(link.st_mode))
      fail(target, "is a dangling link; expected a new file or a regular one");
    exists = ::stat(target.c_str(), &info) == 0;  // it has just appeared
  }
  if (exists) {
    for (const std::string& input : inputs) {
      struct stat read {};
      if (::stat(input.c_str(), &read) == 0 && same_file(info, read))
        fail(target, "is the input; expected another file");
    }
    if (!S_ISREG(info.st_mode)) {
      fail(target, S_ISDIR(info.st_mode)
                       ? "is a directory; expected a new file or a regular one"
                       : "exists and is not a regular file; expected a new file or a regular one");
    }
  }
  const std::string resolved = resolve(target, exists);
  for (const Output& other : m_outputs) {
    struct stat before {};
    const bool same =
        other.resolved == resolved ||
        (exists && ::stat(other.resolved.c_str(), &before) == 0 && same_file(info, before));
    if (same) fail(target, "is named twice as an output; expected different files");
  }
  if (exists && policy == OverwritePolicy::refuse)
    fail(target, "exists already; expected a new file, or --overwrite");

  // No signal may come between the creation of the file and its entry in the handler's list.
  const detail::UninterruptedSection section;
  Output output{target,
                resolved,
                create_beside(target, resolved, exists ? 0600 : 0666),
                -1,
                policy,
                exists,
                static_cast<mode_t>(info.st_mode & 07777)};
  output.slot = detail::remember_temporary(output.temporary);
  m_outputs.push_back(output);
  return output.temporary;
}

void OutputSet::commit() {
  const detail::UninterruptedSection section;
  struct Done {
    bool replaced;
    struct stat file;
  };
  std::vector<Done> done;
  for (const Output& output : m_outputs) {
    struct stat file {};
    (void)::lstat(output.temporary.c_str(), &file);
    const auto placed =
        detail::place_file(output.temporary, output.resolved,
                           {output.policy == OverwritePolicy::replace,
                            output.replaces ? std::optional<mode_t>(output.mode) : std::nullopt});
    done.push_back({placed.replaced, file});
    if (placed.trouble.empty()) continue;

    std::string message = placed.trouble;
    for (std::size_t i = 0; i + 1 < done.size(); ++i) {
      const Output& before = m_outputs[i];
      if (done[i].replaced) {
        message += fmt::format(" ({} is already replaced)", detail::one_line(before.target));
      } else {
        remove_if_same(before.resolved, done[i].file);
      }
    }
    const std::string target = output.target;
    discard();
    fail(target, message);
  }
  for (const Output& output : m_outputs) detail::forget_temporary(output.slot);
  m_outputs.clear();
}

}  // namespace kastor::io
