// SPDX-License-Identifier: Apache-2.0
#include "evaluate/evaluate.hpp"

#include <kastor/io/evaluation.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/version.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/streams.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "evaluate/evaluate_options.hpp"
#include "evaluate/evaluation_report.hpp"
#include "evaluate/usable_image.hpp"
#include "find/find_outputs.hpp"
#include "find/image_finder.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

/// Reads the image, and searches it if there are no catalogues.
void look_at_image(Session& session, const EvaluateOptions& options, FoundImage& found) {
  found.options = options.find;
  const auto settle = [&] {
    if (options.find.unit) found.image.hdu.unit = *options.find.unit;
    found.sky = look_at_header(found.image, found.options);
  };
  const auto& input = options.find.input;
  if (options.searches()) {
    session.on_image(input, HostPixels::needed, found.image,
                     [&](const auto& space, const auto& view) {
                       using Exec = std::decay_t<decltype(space)>;
                       settle();
                       found.note_blanked(session.blanked());
                       ImageFinder<Exec> finder(space, session.steps());
                       finder(as_const_image<Exec>(view), found);
                     });
    return;
  }
  const ScopedStep step(session.steps(), "read");
  found.image = io::read_image(input.path, input.read);
  const auto blanked = blank_out(input, found.image);
  settle();
  found.note_blanked(blanked);
}

EvaluationReport evaluation_report(const EvaluateOptions& options, const FoundImage& found,
                                   std::size_t index, const std::vector<std::string>& found_notes,
                                   const io::Evaluation& evaluation) {
  EvaluationReport report{found.image.path,
                          found.image.hdu.index,
                          options.truth,
                          "",
                          "",
                          "",
                          options.params,
                          evaluation,
                          found_notes};
  if (options.searches()) {
    const auto& find = found.options;
    report.search = find.islands.preset == Preset::lesson ? find_options_as_typed(find.find)
                                                          : island_options_as_typed(find.islands);
  } else {
    report.catalogue = options.catalogues[index];
    if (index < options.inverted.size()) report.inverted = options.inverted[index];
  }
  for (const auto& note : evaluation.notes) report.notes.push_back(note);
  return report;
}

/// All catalogues in turn; the last evaluation is kept for its pairs.
std::string evaluate_all(const EvaluateOptions& options, FoundImage& found, io::Evaluation& last) {
  const auto image = usable_image(found, options.searches());
  const io::Truth truth(options.truth, image, options.min_snr);
  const bool json = options.find.json;
  std::string text;
  const auto add = [&](std::size_t index, const std::vector<std::string>& notes) {
    const auto report = evaluation_report(options, found, index, notes, last);
    if (!json && index > 0) text += "\n";
    text += json ? evaluation_json(report) : evaluation_text(report);
  };
  if (options.searches()) {
    const FoundCatalogue catalogue(found);
    const auto table = catalogue.table();
    const bool lesson = found.options.islands.preset == Preset::lesson;
    last = io::evaluate(truth, {"islands of " + found.image.path, &table, !lesson}, nullptr,
                        options.params);
    add(0, catalogue.notes());
    return text;
  }
  for (std::size_t i = 0; i < options.catalogues.size(); ++i) {
    const bool has_inverse = i < options.inverted.size();
    const io::EvaluatedCatalogue inverse{has_inverse ? options.inverted[i] : "", nullptr, false};
    last = io::evaluate(truth, {options.catalogues[i], nullptr, false},
                        has_inverse ? &inverse : nullptr, options.params);
    add(i, found.notes);
  }
  return text;
}

std::vector<std::string> inputs_of(const EvaluateOptions& options) {
  auto inputs = given_files_of(options.find);
  inputs.push_back(options.find.input.path);
  inputs.push_back(options.truth);
  for (const auto* more : {&options.catalogues, &options.inverted})
    inputs.insert(inputs.end(), more->begin(), more->end());
  return inputs;
}

}  // namespace

std::string evaluate_image(Session& session, const EvaluateOptions& options,
                           const std::string& pairs, FoundImage& found) {
  look_at_image(session, options, found);
  session.steps().begin("evaluate");
  io::Evaluation evaluation;
  std::string text;
  session.with_memory_explained(found.image,
                                [&] { text = evaluate_all(options, found, evaluation); });
  session.steps().end();
  if (options.output) {
    const ScopedStep step(session.steps(), "write");
    io::write_table(pairs, pairs_format(*options.output), io::pairs_table(evaluation),
                    provenance_of(found.image, evaluate_options_as_typed(options), ""));
  }
  return text;
}

void run_evaluate(Arguments arguments) {
  EvaluateOptions options;
  if (!parse_evaluate(arguments, options)) return;
  io::OutputSet outputs;
  std::string temporary;
  if (options.output) {
    temporary =
        outputs.add(*options.output, overwrite_policy(options.find.overwrite), inputs_of(options));
  }
  Session session(options.find.run);
  FoundImage found;
  const std::string text = evaluate_image(session, options, temporary, found);
  session.end_progress();
  print_result(text);
  outputs.commit();
  session.close(options.output && !options.find.json ? wrote_note({*options.output}) : "",
                pixels_of(found.image));
}

}  // namespace kastor::cli
