// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
#include <memory>
#include <random>

#include "text.hpp"

namespace kastor::io {
namespace {

// ---------------------------------------------------------------------------------- signals

// What the handler may touch: fixed memory, and a flag per slot that is set only while its path is
// whole.
constexpr int k_slots = 32;
std::array<std::array<char, PATH_MAX>, k_slots> g_paths;
std::array<std::atomic<bool>, k_slots> g_armed;
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler needs lock-free flags");

constexpr std::array<int, 3> k_signals{SIGINT, SIGTERM, SIGHUP};

extern "C" void remove_temporaries_and_die(int signal_number) {
  for (std::size_t slot = 0; slot < k_slots; ++slot) {
    if (g_armed[slot].load()) ::unlink(g_paths[slot].data());
  }
  // The disposition is the default again (SA_RESETHAND): the parent sees which signal it was.
  ::raise(signal_number);
}

int arm(const std::string& path) {
  for (std::size_t slot = 0; slot < k_slots; ++slot) {
    if (g_armed[slot].load() || path.size() >= g_paths[slot].size()) continue;
    std::memcpy(g_paths[slot].data(), path.c_str(), path.size() + 1);
    g_armed[slot].store(true);
    return static_cast<int>(slot);
  }
  return -1;
}

void disarm(int slot) {
  if (slot >= 0) g_armed[static_cast<std::size_t>(slot)].store(false);
}

/// Holds the signals back: between two renames, "none" and "all" are both out of reach.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : k_signals) sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &m_before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &m_before, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t m_before;
};

// ---------------------------------------------------------------------------------- paths

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
  std::string directory;  // with its '/', or empty
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

/// The absolute name to write to.
std::string resolve(const std::string& target, bool exists) {
  if (exists) return real_path(target);
  const SplitPath parts = split(target);
  if (parts.name.empty() || parts.name == "." || parts.name == "..") {
    fail(target, "is not the name of a file; expected one to write to");
  }
  const std::string directory = real_path(parts.directory.empty() ? "." : parts.directory);
  struct stat info {};
  if (directory.empty() || ::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    fail(target, fmt::format("the directory '{}' does not exist; expected one to write to",
                             detail::one_line(parts.directory)));
  }
  return directory == "/" ? "/" + parts.name : directory + "/" + parts.name;
}

std::string random_letters() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static std::random_device device;
  std::string text(6, ' ');
  for (char& c : text) c = letters[device() % letters.size()];
  return text;
}

/// Creates an empty file beside `resolved` and returns its name.
std::string create_beside(const std::string& target, const std::string& resolved, mode_t mode) {
  const SplitPath parts = split(resolved);
  // File names end at 255 bytes in general.
  const std::string stem = parts.name.substr(0, 220);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name =
        fmt::format("{}.{}.kastor-{}.tmp", parts.directory, stem, random_letters());
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) {
      ::close(descriptor);
      return name;
    }
    if (errno != EEXIST) {
      fail(target, fmt::format("cannot be written: {}; expected a directory to write to",
                               std::strerror(errno)));
    }
  }
  fail(target, "no free temporary name was found; expected a directory to write to");
}

/// Renames without ever replacing a file that appeared meanwhile, where the file system can do
/// that.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str());
  if (errno == EEXIST) return -1;
  return ::rename(from.c_str(), to.c_str());
}

}  // namespace

OutputSet::~OutputSet() { discard(); }

void OutputSet::discard() noexcept {
  for (const Output& output : m_outputs) {
    ::unlink(output.temporary.c_str());
    disarm(output.slot);
  }
  m_outputs.clear();
}

std::string OutputSet::add(const std::string& target, OverwritePolicy policy,
                           const std::vector<std::string>& inputs) {
  if (target.empty() || target.find('\0') != std::string::npos)
    fail(target, "is not the name of a file; expected one to write to");
  struct stat info {};
  struct stat link {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (!exists && ::lstat(target.c_str(), &link) == 0) {
    fail(target, "is a link to nothing; expected a new file or a regular one");
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

  // No signal between the file and its entry in the handler's list.
  const SignalsBlocked blocked;
  Output output{target, resolved, create_beside(target, resolved, exists ? 0600 : 0666),
                -1,     exists,   static_cast<mode_t>(info.st_mode & 07777)};
  output.slot = arm(output.temporary);
  m_outputs.push_back(output);
  return output.temporary;
}

void OutputSet::commit() {
  const SignalsBlocked blocked;
  for (std::size_t i = 0; i < m_outputs.size(); ++i) {
    const Output& output = m_outputs[i];
    int failed = output.replaces ? ::chmod(output.temporary.c_str(), output.mode) : 0;
    if (failed == 0) {
      failed = output.replaces ? ::rename(output.temporary.c_str(), output.resolved.c_str())
                               : rename_to_new(output.temporary, output.resolved);
    }
    if (failed == 0) continue;

    std::string message = fmt::format("cannot be put in place: {}; expected a place to write to",
                                      std::strerror(errno));
    for (std::size_t done = 0; done < i; ++done) {
      if (m_outputs[done].replaces) {
        message +=
            fmt::format(" ({} was replaced already)", detail::one_line(m_outputs[done].target));
      } else {
        ::unlink(m_outputs[done].resolved.c_str());
      }
    }
    const std::string target = output.target;
    discard();
    fail(target, message);
  }
  for (const Output& output : m_outputs) disarm(output.slot);
  m_outputs.clear();
}

void install_signal_cleanup() {
  for (const int number : k_signals) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = &remove_temporaries_and_die;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace kastor::io
