// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_MEMORY_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_MEMORY_OPTIONS_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "cli/options/command_line.hpp"
#include "cli/run/memory.hpp"

namespace kastor::cli {

/// What a run may hold in memory at a time.
struct MemoryOptions {
  std::int64_t limit = 0;                 ///< of the process [byte]; 0: that of `memory_limit()`
  std::optional<std::int64_t> band_rows;  ///< of the image at a time; fewer if the limit says so
};

/// `--memory-limit` and `--band-rows`. \param verb  what the command does with bands, as in "Read"
void add_memory_options(CommandLine& line, MemoryOptions& options, const std::string& verb);

/// The limit that was chosen; else 80 % of `usable_memory()` [byte].
[[nodiscard]] std::int64_t memory_limit(const MemoryOptions& options);

/// The most rows of an image, at least 1 and at most `all` and those of the options, for which
/// `bytes(rows)` is not more than what the limit leaves to this process.
/// \param bytes  rises with its argument \throws Error if there is no room for one row
[[nodiscard]] std::int64_t rows_within(const MemoryOptions& options, std::int64_t all,
                                       const std::function<std::int64_t(std::int64_t)>& bytes);

}  // namespace kastor::cli

#endif
