// SPDX-License-Identifier: Apache-2.0
#include "cli/run/errors.hpp"

#include <cstdio>
#include <kastor/error.hpp>
#include <new>

#include "cli/run/ranks.hpp"
#include "io/text.hpp"

namespace kastor::cli {
namespace {

int report(const std::string& what, ExitCode code) {
  if (!reports_failures()) return code;
  std::fprintf(stderr, "kastor: %s\n", message_line(what).c_str());
  return code;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The message for the current exception.
std::string current_failure() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory: the image and its work space need more than is available";
  } catch (const std::length_error&) {
    return "out of memory: a list would be longer than this machine can address";
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return is_failed_allocation(what) ? "out of memory: " + what : what;
  } catch (...) {
    return "stopped by an unknown error";
  }
}

}  // namespace

bool is_failed_allocation(std::string_view what) {
  return what.find("failed to allocate") != std::string_view::npos;
}

std::string one_line(std::string_view text) {
  std::string line;
  bool gap = false;  // after the end of a line, until the next one begins
  for (const char c : text) {
    if (c == '\n') {
      while (!line.empty() && is_space(line.back())) line.pop_back();
      gap = !line.empty();
      continue;
    }
    if (gap) {
      if (is_space(c)) continue;  // indentation of the next line
      if (line.back() == ';') line.pop_back();
      line += "; ";
      gap = false;
    }
    line += c;
  }
  return io::detail::one_line(line);
}

std::string message_line(std::string_view text) { return io::detail::shortened(one_line(text)); }

std::vector<std::string> message_lines(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (const auto& text : texts) lines.push_back(message_line(text));
  return lines;
}

std::string failure_of(const std::string& subject, const std::function<void()>& job) {
  try {
    job();
    return "";
  } catch (const Error& error) {
    return message_line(error.what());
  } catch (...) {
    return message_line(subject + ": " + current_failure());
  }
}

int run_guarded(const std::function<void()>& job) noexcept {
  // Printing may itself run out of memory, so the last resort is a fixed text.
  try {
    try {
      job();
      return exit_done;
    } catch (const UsageError& error) {
      share_failure();
      return report(error.what(), exit_usage);
    } catch (...) {
      return report(current_failure(), exit_failure);
    }
  } catch (...) {
    std::fputs("kastor: stopped by an unknown error\n", stderr);
    return exit_failure;
  }
}

}  // namespace kastor::cli
