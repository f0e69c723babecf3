// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_RUN_MEMORY_HPP
#define KASTOR_APPS_CLI_RUN_MEMORY_HPP

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kastor::cli {

/// The least of this machine's memory, of the limits of the control groups of this process, and of
/// its address space (RLIMIT_AS) [byte].
[[nodiscard]] std::int64_t usable_memory();

/// The least limit of memory of control groups, version 1 or 2, and of those that hold them [byte];
/// none if there is none.
/// \param groups  as in /proc/self/cgroup \param root  as /sys/fs/cgroup
[[nodiscard]] std::optional<std::int64_t> control_group_limit(const std::string& groups,
                                                              const std::filesystem::path& root);

/// What this process holds in memory now [byte].
[[nodiscard]] std::int64_t resident_memory();

}  // namespace kastor::cli

#endif
