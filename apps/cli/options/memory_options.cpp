// SPDX-License-Identifier: Apache-2.0
#include "cli/options/memory_options.hpp"

#include <algorithm>
#include <kastor/error.hpp>
#include <limits>

#include "cli/report/format.hpp"
#include "cli/run/ranks.hpp"

namespace kastor::cli {

void add_memory_options(CommandLine& line, MemoryOptions& options, const std::string& verb) {
  line.value(
      "--memory-limit", "SIZE",
      [&options](const std::string& text) { options.limit = parse_size("--memory-limit", text); },
      "Hold at most SIZE bytes in memory; SIZE may end with\nK, M, G or T (powers of 1024). "
      "Default: 80 % of the\nleast of this machine's memory and the limits of\ncontrol groups and "
      "address space.");
  line.integer(
      "--band-rows", "N", {1, std::numeric_limits<std::int64_t>::max(), "an integer, 1 or more"},
      [&options](std::int64_t rows) { options.band_rows = rows; },
      verb + " at most N rows of the image at a time. The\nresult is the same.");
}

std::int64_t memory_limit(const MemoryOptions& options) {
  return options.limit > 0 ? options.limit : usable_memory() / 5 * 4 / processes_on_machine();
}

std::int64_t rows_within(const MemoryOptions& options, std::int64_t all,
                         const std::function<std::int64_t(std::int64_t)>& bytes) {
  const std::int64_t limit = memory_limit(options);
  const std::int64_t held = resident_memory();
  if (bytes(1) > limit - held) {
    throw Error(
        fmt::format("a row of the image takes {} bytes of memory, besides the {} that this process "
                    "holds, and the limit is {}; expected a higher limit (--memory-limit)",
                    bytes(1), held, limit));
  }
  // By halves: `low` rows fit, more than `high` are not wanted or do not.
  std::int64_t low = 1;
  std::int64_t high = std::min(all, options.band_rows.value_or(all));
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (bytes(middle) <= limit - held) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace kastor::cli
