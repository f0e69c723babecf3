// SPDX-License-Identifier: Apache-2.0
#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "find/fill_excluder.hpp"

namespace kastor::cli {

std::vector<std::string> fill_notes(const std::vector<FillValue>& fill) {
  std::vector<std::string> notes;
  for (const auto& value : fill) {
    const std::string pixels = count_of(value.pixels, "pixel");
    notes.push_back(
        value.low == value.high
            ? fmt::format("the constant {:.7g} of {} stands in place of sky and is taken as blank "
                          "(--blank-value none keeps it)",
                          value.low, pixels)
            : fmt::format("the neighbouring numbers {:.9g} to {:.9g} of {} stand in place of sky "
                          "and are taken as blank (--blank-value none keeps them)",
                          value.low, value.high, pixels));
  }
  return notes;
}

}  // namespace kastor::cli
