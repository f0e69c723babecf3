// SPDX-License-Identifier: Apache-2.0
#include "cli/run/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

namespace kastor::cli {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number in a file; none if there is no such file, or "max" in it.
std::optional<std::int64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  // Version 1 writes a number near 2^63 where there is no limit.
  return stream >> number ? std::optional(number) : std::nullopt;
}

/// The least number in the files of this name in a folder and in those that hold it, up to `root`.
std::int64_t least_upwards(const std::filesystem::path& root, std::filesystem::path group,
                           const char* file) {
  std::int64_t least = unlimited;
  for (group = group.relative_path();; group = group.parent_path()) {
    least = std::min(least, number_in(root / group / file).value_or(unlimited));
    if (group.empty()) return least;
  }
}

}  // namespace

std::int64_t usable_memory() {
  std::int64_t least =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  struct rlimit space {};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur < static_cast<rlim_t>(least))
    least = static_cast<std::int64_t>(space.rlim_cur);
  std::ifstream stream("/proc/self/cgroup");
  const std::string groups{std::istreambuf_iterator<char>(stream), {}};
  return std::min(least, control_group_limit(groups, "/sys/fs/cgroup").value_or(unlimited));
}

std::optional<std::int64_t> control_group_limit(const std::string& groups,
                                                const std::filesystem::path& root) {
  std::int64_t least = unlimited;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // "NUMBER:CONTROLLERS:FOLDER"; version 2 has no controllers.
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string folder = line.substr(second + 1);
    if (controllers == ",,") {
      least = std::min(least, least_upwards(root, folder, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, least_upwards(root / "memory", folder, "memory.limit_in_bytes"));
    }
  }
  return least == unlimited ? std::nullopt : std::optional(least);
}

std::int64_t resident_memory() {
  std::ifstream stream("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  stream >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace kastor::cli
