// SPDX-License-Identifier: Apache-2.0
#include "cli/run/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <kastor/error.hpp>
#include <memory>

namespace kastor::cli {
namespace {

[[noreturn]] void fail(const std::string& program, int error) {
  throw Error(program + ": cannot be started (" + std::strerror(error) +
              "); expected an executable program");
}

/// Closes a descriptor once.
class Descriptor {
 public:
  explicit Descriptor(int number) : m_number(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const { return m_number; }
  void close() {
    if (m_number >= 0) ::close(m_number);
    m_number = -1;
  }

 private:
  int m_number;
};

/// Starts the program with /dev/null as stdin and stderr, and the pipe as stdout. It uses
/// posix_spawn rather than fork, since this process has threads and devices at work.
pid_t start(const std::vector<std::string>& words, int out) {
  std::vector<std::string> copies = words;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (auto& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail(words.front(), error);
  return pid;
}

/// Passes on whole lines; the last one may lack its newline.
void read_lines(int in, const std::function<void(const std::string&)>& take) {
  std::string pending;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(in, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    pending.append(buffer.data(), static_cast<std::size_t>(count));
    for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::string line = pending.substr(0, end);
      pending.erase(0, end + 1);
      take(line);
    }
  }
  if (!pending.empty()) take(pending);
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

int run_program(const std::vector<std::string>& words,
                const std::function<void(const std::string&)>& take) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(words.front(), errno);
  Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  const pid_t pid = start(words, out.number());
  out.close();
  std::exception_ptr trouble;
  try {
    read_lines(in.number(), take);
  } catch (...) {
    trouble = std::current_exception();
  }
  in.close();  // ends a program that still writes
  const int code = wait_for(pid);
  if (trouble) std::rethrow_exception(trouble);
  return code;
}

}  // namespace kastor::cli
