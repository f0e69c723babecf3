// SPDX-License-Identifier: Apache-2.0
#include "bench/peers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <kastor/convolution_kernel.hpp>
#include <kastor/error.hpp>
#include <map>

namespace kastor::bench {
namespace {

using Json = cli::Json;

Facts facts_of(const Json& result) {
  Facts facts;
  for (const auto& [name, value] : result.items()) {
    if (value.is_number_integer()) {
      facts.emplace_back(name, value.get<std::int64_t>());
    } else if (value.is_number()) {
      facts.emplace_back(name, value.get<double>());
    }
  }
  return facts;
}

Timing timing_of(const Json& seconds, const TimingRules& rules) {
  const auto list = seconds.get<std::vector<double>>();
  if (list.empty())
    throw Error("peers.py: found a measurement without times; expected at least one");
  const bool stopped_early = static_cast<int>(list.size()) < rules.repeats;
  return make_timing(list, stopped_early);
}

/// Compares with Kastor's first row: the script compares the lists, and this function the figures.
std::optional<Comparison> comparison_of(const Json& json, const StepRows& step, const Row& row) {
  if (step.rows.empty()) return std::nullopt;
  Comparison figures = compare(step.rows.front().facts, row.facts);
  if (const auto found = json.find("max_difference"); found != json.end() && found->is_number()) {
    figures.identical = figures.identical && *found == 0;
    figures.max_difference = std::max(figures.max_difference, found->get<double>());
  }
  return figures;
}

Row row_of(const Json& json, const StepRows& step, const TimingRules& rules) {
  Row row;
  row.kind = RowKind::peer;
  row.who = json.at("who").get<std::string>();
  row.function = json.at("function").get<std::string>();
  row.timing = timing_of(json.at("seconds"), rules);
  if (json.contains("with_transfers")) {
    row.with_transfers = timing_of(json.at("with_transfers"), rules);
  }
  row.facts = facts_of(json.at("result"));
  row.compared = comparison_of(json, step, row);
  return row;
}

void add(const Json& json, const TimingRules& rules, Table& table) {
  const auto name = json.at("step").get<std::string>();
  if (json.contains("failed")) {
    table.notes.push_back(json.at("who").get<std::string>() + " " +
                          json.at("function").get<std::string>() +
                          " failed: " + json.at("failed").get<std::string>());
    return;
  }
  for (StepRows& step : table.steps) {
    if (step.name == name) step.rows.push_back(row_of(json, step, rules));
  }
}

}  // namespace

Peers::Peers(const std::optional<std::string>& python)
    : m_script({"--peers", "peers.py", "NumPy and SciPy"}, python) {
  const auto& answer = m_script.answer();
  if (!answer.contains("versions")) {
    throw Error("peers.py: found no versions in its answer; expected those of the libraries");
  }
  for (const auto& entry : answer.at("versions")) {
    m_versions.emplace_back(entry.at(0).get<std::string>(), entry.at(1).get<std::string>());
  }
}

void Peers::store(const std::string& name, const void* data, std::size_t bytes) {
  const std::string path =
      m_outputs.add(cli::temporary_target("bench", name), io::OverwritePolicy::refuse);
  errno = 0;
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written = file != nullptr && std::fwrite(data, 1, bytes, file) == bytes;
  if (file != nullptr) written = (std::fclose(file) == 0) && written;
  if (!written) {
    throw Error(path + ": cannot be written (" + std::strerror(errno) + "); expected room for " +
                std::to_string(bytes) + " bytes (TMPDIR chooses the folder)");
  }
  m_files.emplace_back(name, path);
}

void Peers::hand_over(const Images& images) {
  store("dirac_image", images.dirac.data(), images.dirac.size() * sizeof(double));
  std::visit(
      [this](const auto& sky) {
        using T = typename std::decay_t<decltype(sky)>::value_type;
        store("sky", sky.data(), sky.size() * sizeof(T));
      },
      images.sky);
  const ConvolutionKernel kernel = lesson_kernel();
  store("taps", kernel.taps.data(), kernel.taps.size() * sizeof(double));
}

void Peers::hand_over(const std::string& step, const Answer& answer) {
  if (step != "convolve" && step != "convolve_1d") return;
  const auto& numbers = std::get<std::vector<double>>(answer.numbers);
  store(step, numbers.data(), numbers.size() * sizeof(double));
}

void Peers::run(const TimingRules& rules, Table& table) const {
  const Json job = {{"size", table.size},
                    {"type", table.type},
                    {"repeats", rules.repeats},
                    {"repeats_most", rules.repeats_most},
                    {"seconds_least", rules.seconds_least},
                    {"seconds_most", rules.seconds_most},
                    {"files", std::map<std::string, std::string>(m_files.begin(), m_files.end())}};
  bool ended = false;
  const int code = m_script.run({"run", job.dump()}, [&](const Json& json) {
    ended = json.contains("done");
    if (!ended) add(json, rules, table);
  });
  if (code != 0 || !ended) {
    throw Error("peers.py: ended with exit code " + std::to_string(code) +
                " before all steps were measured; expected 0");
  }
}

}  // namespace kastor::bench
