// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_BENCH_TABLE_HPP
#define KASTOR_APPS_BENCH_TABLE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/answer.hpp"
#include "bench/machine.hpp"
#include "bench/timing.hpp"

namespace kastor::bench {

enum class RowKind {
  backend,  ///< Kastor on a backend
  host,     ///< Kastor, independent of the backend
  peer      ///< a function of another library
};

struct Row {
  RowKind kind = RowKind::backend;
  std::string who;       ///< the backend, "host", or the peer's library
  std::string function;  ///< of the peer
  Timing timing;
  std::optional<Timing> with_transfers;
  Facts facts;
  std::optional<Comparison> compared;  ///< with the first row; none in the first row
};

/// The rows of one step.
struct StepRows {
  std::string name;
  std::string title;
  std::int64_t items = 0;
  double bytes = 0;
  std::vector<Row> rows;
};

struct Table {
  Machine machine;
  std::int64_t size = 0;
  std::string type;  ///< of the sky's pixels
  TimingRules rules;
  std::vector<std::pair<std::string, std::string>> peers;  ///< their names and versions
  std::vector<StepRows> steps;
  std::vector<std::string> notes;  ///< what could not be measured
};

/// The median of serial divided by this median; none if serial was not measured.
[[nodiscard]] std::optional<double> speed_up(const StepRows& step, const Timing& timing);

/// "'openmp' in the step 'label'", for the first result of Kastor that differs in any bit from that
/// of the first backend; empty if there is none.
[[nodiscard]] std::string first_difference(const Table& table);

[[nodiscard]] std::string table_text(const Table& table);
[[nodiscard]] std::string table_json(const Table& table);

}  // namespace kastor::bench

#endif
