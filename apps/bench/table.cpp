// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"

namespace kastor::bench {

std::optional<double> speed_up(const StepRows& step, const Timing& timing) {
  for (const Row& row : step.rows) {
    if (row.kind == RowKind::backend && row.who == "serial" && timing.median > 0) {
      return row.timing.median / timing.median;
    }
  }
  return std::nullopt;
}

std::string first_difference(const Table& table) {
  for (const StepRows& step : table.steps) {
    for (const Row& row : step.rows) {
      if (row.kind != RowKind::peer && row.compared && !row.compared->identical) {
        return "'" + row.who + "' in the step '" + step.name + "'";
      }
    }
  }
  return "";
}

}  // namespace kastor::bench
