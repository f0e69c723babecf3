// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/evaluation.hpp>
#include <string>
#include <utility>

namespace kastor::io {
namespace {

const std::string& pixel_or(const Measure& measure) {
  static const std::string pixel = "pixel";
  const bool flux = measure.quantity <= MeasuredQuantity::flux_peak;
  return flux ? measure.unit : pixel;
}

}  // namespace

Table pairs_table(const Evaluation& evaluation) {
  Table table{"pairs", "True sources and their partners in a catalogue", {}};
  const auto add = [&](std::string name, std::string unit, std::string description,
                       const auto& value) {
    using Value = std::decay_t<decltype(value(evaluation.pairs.front()))>;
    std::vector<Value> values;
    values.reserve(evaluation.pairs.size());
    for (const auto& pair : evaluation.pairs) values.push_back(value(pair));
    table.columns.push_back({std::move(name), std::move(unit), "", std::move(description),
                             TableColumn::Values(std::move(values))});
  };
  const auto whole = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  add("truth_row", "", "Row of the truth, from 0", [&](const auto& p) { return whole(p.truth); });
  add("row", "", "Row of the catalogue, from 0", [&](const auto& p) { return whole(p.row); });
  add("separation", "pixel", "Distance of the two", [](const auto& p) { return p.separation; });
  add("isolated", "", "1 if no other true source is near, else 0",
      [](const auto& p) { return std::int64_t{p.isolated ? 1 : 0}; });
  add("true_snr", "", "S/N of the true source", [](const auto& p) { return p.true_snr; });
  for (std::size_t q = 0; q < k_measured_quantities; ++q) {
    const auto& measure = evaluation.measures[q];
    const std::string name = name_of(measure.quantity);
    const auto& unit = pixel_or(measure);
    add("true_" + name, unit, "True value of " + name, [q](const auto& p) { return p.truths[q]; });
    add(name, unit, "Measured value of " + name, [q](const auto& p) { return p.measured[q]; });
    add(name + "_err", unit, "Error of " + name + " in the catalogue",
        [q](const auto& p) { return p.errors[q]; });
  }
  return table;
}

}  // namespace kastor::io
