// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"
#include "cli/report/json.hpp"

namespace kastor::bench {
namespace {

cli::Json number_or_null(const std::optional<double>& number) {
  return number ? cli::Json(*number) : cli::Json(nullptr);
}

cli::Json timing_json(const StepRows& step, const Timing& timing) {
  const auto per_second = [&timing](double amount) {
    return timing.median > 0 ? cli::Json(amount / timing.median) : cli::Json(nullptr);
  };
  return {{"median_s", timing.median},
          {"minimum_s", timing.minimum},
          {"spread_s", timing.spread},
          {"repeats", timing.seconds.size()},
          {"stopped_early", timing.stopped_early},
          {"items_per_s", per_second(static_cast<double>(step.items))},
          {"bytes_per_s", per_second(step.bytes)},
          {"speed_up", number_or_null(speed_up(step, timing))},
          {"seconds", timing.seconds}};
}

cli::Json facts_json(const Facts& facts) {
  cli::Json json = cli::Json::object();
  for (const auto& [name, fact] : facts) {
    std::visit([&json, &key = name](const auto& value) { json[key] = value; }, fact);
  }
  return json;
}

const char* name_of(RowKind kind) {
  switch (kind) {
    case RowKind::backend:
      return "backend";
    case RowKind::host:
      return "host";
    case RowKind::peer:
      return "peer";
  }
  return "";
}

cli::Json row_json(const StepRows& step, const Row& row) {
  cli::Json json = {
      {"kind", name_of(row.kind)}, {"who", row.who}, {"function", cli::text_or_null(row.function)}};
  json.update(timing_json(step, row.timing));
  json["with_transfers"] =
      row.with_transfers ? timing_json(step, *row.with_transfers) : cli::Json(nullptr);
  json["result"] = facts_json(row.facts);
  json["identical"] = row.compared ? cli::Json(row.compared->identical) : cli::Json(nullptr);
  json["max_difference"] =
      row.compared ? cli::Json(row.compared->max_difference) : cli::Json(nullptr);
  return json;
}

cli::Json step_json(const StepRows& step) {
  cli::Json rows = cli::Json::array();
  for (const Row& row : step.rows) rows.push_back(row_json(step, row));
  return {{"step", step.name},
          {"title", step.title},
          {"items", step.items},
          {"bytes", step.bytes},
          {"rows", rows}};
}

cli::Json backends_json(const Machine& machine) {
  cli::Json backends = cli::Json::array();
  for (const auto& backend : machine.backends) {
    backends.push_back(
        {{"name", backend.name},
         {"usable", backend.usable},
         {"trouble", cli::text_or_null(backend.trouble)},
         {"measured", backend.measured},
         {"threads", backend.usable ? cli::Json(backend.threads) : cli::Json(nullptr)}});
  }
  return backends;
}

}  // namespace

std::string table_json(const Table& table) {
  cli::Json peers = nullptr;
  for (const auto& [name, version] : table.peers) peers[name] = version;
  cli::Json steps = cli::Json::array();
  for (const StepRows& step : table.steps) steps.push_back(step_json(step));
  const cli::Json json = {{"kastor", table.machine.kastor},
                          {"kokkos", table.machine.kokkos},
                          {"cpu", cli::text_or_null(table.machine.cpu)},
                          {"hardware_threads", table.machine.hardware_threads > 0
                                                   ? cli::Json(table.machine.hardware_threads)
                                                   : cli::Json(nullptr)},
                          {"devices", table.machine.devices},
                          {"backends", backends_json(table.machine)},
                          {"peers", peers},
                          {"size", table.size},
                          {"type", table.type},
                          {"repeats", table.rules.repeats},
                          {"identical", first_difference(table).empty()},
                          {"notes", table.notes},
                          {"steps", steps}};
  return cli::json_line(json);
}

}  // namespace kastor::bench
