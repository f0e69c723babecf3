// SPDX-License-Identifier: Apache-2.0
#include "cli/report/streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <kastor/error.hpp>

#include "cli/run/ranks.hpp"

namespace kastor::cli {
namespace {

thread_local std::string* captured = nullptr;

}  // namespace

CapturedResults::CapturedResults() { captured = &m_text; }
CapturedResults::~CapturedResults() { captured = nullptr; }

void print_result(const std::string& text) {
  if (captured != nullptr) {
    *captured += text;
    return;
  }
  if (!speaks()) return;
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw Error("standard output: cannot be written (" + reason +
                "); expected room for the results");
  }
}

void make_streams_safe() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // Opened for reading only, so that writing to a closed stream still fails.
    while (fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      if (open("/dev/null", O_RDONLY) < 0) return;
    }
  }
  // A write that fails (EPIPE, EFBIG) has a message, unlike the signal that would come instead.
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);
}

}  // namespace kastor::cli
