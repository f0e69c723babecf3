// SPDX-License-Identifier: Apache-2.0
#include "bench/table.hpp"
#include "cli/json.hpp"

namespace kastor::bench {
namespace {

using cli::Json;
using cli::text_or_null;

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json timing_json(const StepRows& step, const Timing& timing) {
  const auto per_second = [&timing](double amount) {
    return timing.median > 0 ? Json(amount / timing.median) : Json(nullptr);
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

Json facts_json(const Facts& facts) {
  Json json = Json::object();
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

Json row_json(const StepRows& step, const Row& row) {
  Json json = {
      {"kind", name_of(row.kind)}, {"who", row.who}, {"function", text_or_null(row.function)}};
  json.update(timing_json(step, row.timing));
  json["with_transfers"] =
      row.with_transfers ? timing_json(step, *row.with_transfers) : Json(nullptr);
  json["result"] = facts_json(row.facts);
  json["identical"] = row.compared ? Json(row.compared->identical) : Json(nullptr);
  json["max_difference"] = row.compared ? Json(row.compared->max_difference) : Json(nullptr);
  return json;
}

Json step_json(const StepRows& step) {
  Json rows = Json::array();
  for (const Row& row : step.rows) rows.push_back(row_json(step, row));
  return {{"step", step.name},
          {"title", step.title},
          {"items", step.items},
          {"bytes", step.bytes},
          {"rows", rows}};
}

Json backends_json(const Machine& machine) {
  Json backends = Json::array();
  for (const auto& backend : machine.backends) {
    backends.push_back({{"name", backend.name},
                        {"usable", backend.usable},
                        {"trouble", text_or_null(backend.trouble)},
                        {"measured", backend.measured},
                        {"threads", backend.usable ? Json(backend.threads) : Json(nullptr)}});
  }
  return backends;
}

}  // namespace

std::string table_json(const Table& table) {
  Json peers = nullptr;
  for (const auto& [name, version] : table.peers) peers[name] = version;
  Json steps = Json::array();
  for (const StepRows& step : table.steps) steps.push_back(step_json(step));
  const Json json = {
      {"kastor", table.machine.kastor},
      {"kokkos", table.machine.kokkos},
      {"cpu", text_or_null(table.machine.cpu)},
      {"hardware_threads",
       table.machine.hardware_threads > 0 ? Json(table.machine.hardware_threads) : Json(nullptr)},
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
