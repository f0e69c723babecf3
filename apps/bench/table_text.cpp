// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "bench/table.hpp"
#include "cli/report/format.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"

namespace kastor::bench {
namespace {

constexpr std::size_t name_width = 22;

/// The value with that many significant digits, but with all digits before the point, and without
/// an exponent.
std::string digits(double value, int significant) {
  if (!(value > 0)) return "0";
  const int before = static_cast<int>(std::floor(std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(significant - before, 0, 6));
}

std::string fact_text(const Fact& fact) {
  if (const auto* real = std::get_if<double>(&fact)) return fmt::format("{:.4g}", *real);
  if (const auto* whole = std::get_if<std::int64_t>(&fact)) return std::to_string(*whole);
  const auto& text = std::get<std::string>(fact);
  return text.size() > 12 ? text.substr(0, 12) : text;  // a hash
}

std::string facts_text(const Facts& facts) {
  std::string text;
  for (const auto& [name, fact] : facts) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    text += (text.empty() ? "" : ", ") + words + " " + fact_text(fact);
  }
  return text;
}

/// For Kastor, whether the bits are the same; for the peers, the largest difference.
std::string sameness(const Row& row) {
  if (!row.compared) return "";
  const double difference = row.compared->max_difference;
  if (row.kind == RowKind::peer) return difference > 0 ? fmt::format("{:.1e}", difference) : "0";
  return row.compared->identical ? "same bits" : fmt::format("DIFFERS {:.0e}", difference);
}

std::string row_text(const StepRows& step, const Row& row) {
  const double median = row.timing.median;
  std::string name = "  " + row.who + (row.function.empty() ? "" : " " + row.function);
  if (row.timing.stopped_early) name += " *";
  const double percent = median > 0 ? 100 * row.timing.spread / median : 0;
  const auto rate = [median](double amount) {
    return median > 0 && amount > 0 ? digits(amount / median, 3) : "-";
  };
  const auto faster = speed_up(step, row.timing);
  std::string text = fmt::format(
      "{:<{}} {:>9} {:>9} {:>7} {:>9} {:>9} {:>8} {:>8}  {}", name, name_width,
      digits(1e3 * median, 4), digits(1e3 * row.timing.minimum, 4), fmt::format("{:.1f}%", percent),
      row.with_transfers ? digits(1e3 * row.with_transfers->median, 4) : "-",
      rate(1e-6 * static_cast<double>(step.items)), rate(1e-9 * step.bytes),
      faster ? digits(*faster, 3) : "-", sameness(row));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string step_text(const StepRows& step) {
  std::string text = "\n" + step.title;
  const std::string facts = step.rows.empty() ? "" : facts_text(step.rows.front().facts);
  if (!facts.empty()) text += (text.size() + facts.size() > 98 ? "\n  " : ": ") + facts;
  text += "\n";
  for (const Row& row : step.rows) text += row_text(step, row);
  return text;
}

std::string line(const std::string& name, const std::string& text) {
  return fmt::format("{:<9} {}\n", name, cli::one_line(text));
}

std::string backend_text(const Machine& machine, const Machine::BackendInfo& backend) {
  if (!backend.usable) {
    return backend.trouble.empty() ? "not started" : "no usable device: " + backend.trouble;
  }
  std::string text = cli::count_of(backend.threads, "thread");
  if (backend.device && !machine.devices.empty()) text = machine.devices.front();
  return backend.measured ? text : text + ", not measured";
}

std::string head_text(const Table& table) {
  const Machine& machine = table.machine;
  std::string text = line("kastor", machine.kastor + ", Kokkos " + machine.kokkos);
  text += line("cpu", (machine.cpu.empty() ? "unknown" : machine.cpu) + ", " +
                          cli::count_of(machine.hardware_threads, "hardware thread"));
  for (const auto& backend : machine.backends) {
    text += line(backend.name, backend_text(machine, backend));
  }
  std::string peers;
  for (const auto& [name, version] : table.peers) {
    peers += (peers.empty() ? "" : ", ") + name + " " + version;
  }
  if (!peers.empty()) text += line("peers", peers);
  text +=
      line("images", fmt::format("{0} x {0}: float64 point grid, {1} sky of 'kastor simulate sky'",
                                 table.size, table.type));
  text +=
      line("repeats",
           fmt::format("at least {} after a warm-up, for at least {:g} s; none starts after "
                       "{:g} s",
                       table.rules.repeats, table.rules.seconds_least, table.rules.seconds_most));
  return text;
}

bool any_row(const Table& table, bool (*is)(const Row&)) {
  return std::any_of(table.steps.begin(), table.steps.end(), [is](const StepRows& step) {
    return std::any_of(step.rows.begin(), step.rows.end(), is);
  });
}

std::string foot_text(const Table& table) {
  std::string text =
      "\nms: median and minimum of the repeats, fenced before and after. spread: median absolute\n"
      "deviation. GB/s: the input read once and the output written once. speed-up: over serial.\n";
  if (any_row(table, [](const Row& row) { return row.with_transfers.has_value(); })) {
    text +=
        "+copies: with the upload of the input and the download of the result, pageable memory.\n";
  }
  if (any_row(table, [](const Row& row) { return row.kind == RowKind::peer; })) {
    text +=
        "Last column of the peers: the largest difference of their results from Kastor's, over "
        "the\n"
        "largest magnitude.\n";
  }
  if (any_row(table, [](const Row& row) { return row.timing.stopped_early; })) {
    text += fmt::format("*: fewer repeats, stopped after {:g} s.\n", table.rules.seconds_most);
  }
  for (const auto& note : table.notes) text += cli::message_line(note) + "\n";
  return text;
}

}  // namespace

std::string table_text(const Table& table) {
  std::string text = head_text(table);
  text += "\n" + fmt::format("{:<{}} {:>9} {:>9} {:>7} {:>9} {:>9} {:>8} {:>8}\n", "", name_width,
                             "median ms", "min ms", "spread", "+copies", "Mpixel/s", "GB/s",
                             "speed-up");
  for (const StepRows& step : table.steps) text += step_text(step);
  return text + foot_text(table);
}

}  // namespace kastor::bench
