// SPDX-License-Identifier: Apache-2.0
#include <kastor/error.hpp>
#include <kastor/io/output_set.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/host_steps.hpp"
#include "bench/options.hpp"
#include "bench/peers.hpp"
#include "bench/steps.hpp"
#include "bench/table.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/session.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

/// The backends that were asked for, else all usable ones, in the order of the build's list.
std::vector<std::string> backends_to_measure(const bench::BenchOptions& options,
                                             const KokkosSession& kokkos) {
  if (!options.on.empty()) return options.on;
  std::vector<std::string> names;
  for (const auto& backend : compiled_backends()) {
    if (kokkos.usable(backend)) names.push_back(backend.name);
  }
  return names;
}

/// The fastest CPU backend. It makes the images, so its threads touch them first.
std::string host_backend() {
  std::string name;
  int rank = -1;
  for (const auto& backend : compiled_backends()) {
    if (!backend.device && backend.rank > rank) {
      name = backend.name;
      rank = backend.rank;
    }
  }
  return name;
}

bench::Images make_images(const bench::BenchOptions& options, Session& session) {
  const ScopedStep step(session.steps(), "images");
  return bench::make_images(host_backend(), options.size, options.type == PixelType::float64);
}

/// One row per backend, each compared with the first.
bench::StepRows measure(const bench::Step& step, const std::vector<std::string>& backends,
                        const bench::Images& images, const bench::TimingRules& rules,
                        Session& session, std::optional<bench::Peers>& peers) {
  bench::StepRows rows;
  rows.name = step.name;
  rows.title = step.title;
  bench::Answer reference;
  for (const auto& backend : backends) {
    const std::string what = std::string(step.name) + " on " + backend;
    const ScopedStep shown(session.steps(), what.c_str());
    bench::Measured measured;
    session.with_memory_explained([&] { measured = step.run(backend, images, rules); });
    rows.items = measured.items;
    rows.bytes = measured.bytes;
    bench::Row row;
    row.who = backend;
    row.timing = std::move(measured.timing);
    row.with_transfers = std::move(measured.with_transfers);
    row.facts = measured.answer.facts;
    if (rows.rows.empty()) {
      reference = std::move(measured.answer);
    } else {
      row.compared = bench::compare(reference.numbers, measured.answer.numbers);
    }
    rows.rows.push_back(std::move(row));
  }
  if (peers) peers->hand_over(step.name, reference);
  return rows;
}

void measure_files(const bench::Images& images, const bench::TimingRules& rules, Session& session,
                   bench::Table& table) {
  io::OutputSet outputs;  // never committed, so the file is removed in any case
  const std::string path =
      outputs.add(cli::temporary_target("bench", "sky.fits"), io::OverwritePolicy::refuse);
  const ScopedStep step(session.steps(), "fits");
  table.steps.push_back(bench::time_fits_write(images, path, rules));
  table.steps.push_back(bench::time_fits_read(images, path, rules));
}

void require_same_bits(const bench::Table& table) {
  const std::string where = bench::first_difference(table);
  if (!where.empty()) {
    throw Error("bench: found other bits from " + where +
                " (see the table); expected the same bits everywhere");
  }
}

}  // namespace

void run_bench(Arguments arguments) {
  bench::BenchOptions options;
  if (!bench::parse(arguments, options)) return;
  // A missing peer is reported before any long run.
  std::optional<bench::Peers> peers;
  if (options.peers) peers.emplace(options.python);

  Session session(options.run);
  const auto backends = backends_to_measure(options, session.kokkos());
  bench::Table table;
  table.machine = bench::this_machine(session.kokkos(), backends);
  table.size = options.size;
  table.type = options.type == PixelType::float32 ? "float32" : "float64";
  table.rules = options.rules;

  const bench::Images images = make_images(options, session);
  if (peers) peers->hand_over(images);
  for (const auto& step : bench::steps()) {
    table.steps.push_back(measure(step, backends, images, options.rules, session, peers));
    // In the course, the kernel comes after the image.
    if (table.steps.size() == 1) table.steps.push_back(bench::time_kernel(options.rules));
  }
  measure_files(images, options.rules, session, table);
  if (peers) {
    const ScopedStep step(session.steps(), "peers");
    table.peers = peers->versions();
    peers->run(options.rules, table);
  }

  session.end_progress();
  print_result(options.json ? bench::table_json(table) : bench::table_text(table));
  session.close("", options.size * options.size);
  require_same_bits(table);
}

}  // namespace kastor::cli
