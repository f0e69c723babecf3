// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <kastor/io/island_regions.hpp>
#include <kastor/io/output_set.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "measure/image_measurer.hpp"
#include "measure/measure_options.hpp"
#include "measure/measurement_steps.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

io::TableParams table_params_of(const FoundImage& found) {
  io::TableParams params;
  params.wcs = found.sky.wcs ? &*found.sky.wcs : nullptr;
  params.beam = found.sky.beam;
  params.unit = found.image.hdu.unit;
  params.nx = found.image.nx;
  params.ny = found.image.ny;
  params.sums_of_pixels = true;
  return params;
}

/// Without a shape there is nothing to fit, and an aperture larger than the image is a mistake.
void check_measurable(const Measurement& measurement, const MeasureOptions& options) {
  const auto& image = measurement.found.image;
  if (!measurement.list.beam && options.apertures.empty()) {
    throw Error(fmt::format(
        "{}: found no {} and no sizes in {}; expected {}, sizes, or --aperture alone",
        name_of(image), measurement.found.sky.beam.beam ? "pixel scale for the beam" : "beam",
        one_line(options.list),
        measurement.found.sky.beam.beam ? "celestial coordinates"
                                        : "a beam in the header or --beam"));
  }
  const auto side = static_cast<double>(std::max(image.nx, image.ny));
  for (const auto& each : options.apertures) {
    if (each.pixels <= side) continue;
    throw Error(
        fmt::format("{}: --aperture: found a radius of {} pixels; expected at most {}, the "
                    "longer side of the image",
                    name_of(image), each.text, side));
  }
}

}  // namespace

void write_measurement(const std::vector<std::string>& temporaries, const MeasureOptions& options,
                       const Measurement& measurement) {
  const auto provenance =
      provenance_of(measurement.found.image, measure_options_as_typed(options), "");
  std::vector<StagedCatalogue> staged;
  for (std::size_t i = 0; i < temporaries.size(); ++i)
    staged.push_back({temporaries[i], table_or_regions_of("-o", options.find.outputs[i])});
  const io::Table& table = measurement.table.table;
  write_table_of_rows(
      staged, measurement.found.image, table, options.find.names,
      [&] { return io::component_regions(table); }, provenance);
}

void make_table(Measurement& measurement) {
  FoundImage& found = measurement.found;
  measurement.table = io::forced_table(measurement.list, measurement.components,
                                       measurement.apertures, table_params_of(found));
  auto& cards = measurement.table.table.cards;
  cards.push_back(
      {"NOISEKIN", std::string(name_of(measurement.noise.kind)), "--noise of kastor measure"});
  cards.push_back(
      {"NOISEPIX", measurement.noise.pixels, "[pixel] area of the noise's autocorrelation"});
  auto& notes = measurement.table.notes;
  notes.insert(notes.begin(), found.notes.begin(), found.notes.end());
  if (!measurement.noise.note.empty()) notes.push_back(measurement.noise.note);
  notes.insert(notes.end(), found.sky.beam.notes.begin(), found.sky.beam.notes.end());
  notes.insert(notes.end(), found.sky.notes.begin(), found.sky.notes.end());
  if (!found.sky.wcs) notes.push_back("there are no sky columns: " + found.sky.why_no_wcs);
}

void settle_measurement(MeasureOptions& options, Measurement& measurement) {
  FoundImage& found = measurement.found;
  if (options.find.unit) found.image.hdu.unit = *options.find.unit;
  found.sky = look_at_header(found.image, found.options);
  options.find.islands = found.options.islands;  // with the size of a cell
  measurement.list = io::read_forced_list(options.list, table_params_of(found), options.use_shapes);
  check_measurable(measurement, options);
}

void run_measure(Arguments arguments) {
  MeasureOptions options;
  if (!parse_measure(arguments, options)) return;
  auto inputs = given_files_of(options.find);
  inputs.push_back(options.find.input.path);
  inputs.push_back(options.list);
  io::OutputSet outputs;
  std::vector<std::string> temporaries;
  for (const auto& path : options.find.outputs)
    temporaries.push_back(outputs.add(path, overwrite_policy(options.find.overwrite), inputs));

  Session session(options.find.run);
  Measurement measurement;
  FoundImage& found = measurement.found;
  found.options = options.find;
  session.on_image(options.find.input, HostPixels::not_needed, found.image,
                   [&](const auto& space, const auto& view) {
                     using Exec = std::decay_t<decltype(space)>;
                     {
                       const ScopedStep step(session.steps(), "read list");
                       settle_measurement(options, measurement);
                     }
                     found.note_blanked(session.blanked());
                     ImageMeasurer<Exec> measure(space, session.steps());
                     measure(as_const_image<Exec>(view), options, measurement);
                   });
  {
    const ScopedStep step(session.steps(), "write");
    make_table(measurement);
    write_measurement(temporaries, options, measurement);
  }
  session.end_progress();
  if (options.find.json) {
    print_result(measurement_json(measurement, options));
  } else if (!options.find.run.quiet || options.find.outputs.empty()) {
    print_result(measurement_text(measurement, options));
  }
  outputs.commit();
  session.close(options.find.json ? "" : wrote_note(options.find.outputs), pixels_of(found.image));
}

}  // namespace kastor::cli
