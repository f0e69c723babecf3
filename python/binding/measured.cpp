// SPDX-License-Identifier: Apache-2.0
#include "binding/measured.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <kastor/io/output_set.hpp>
#include <type_traits>

#include "binding/runtime.hpp"
#include "binding/tables.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "measure/image_measurer.hpp"
#include "measure/measurement_steps.hpp"

namespace kastor::python {

nb::tuple measure(std::vector<std::string> arguments, const Source& source,
                  const Companions& companions, const std::optional<std::string>& on) {
  arguments.push_back("--");
  arguments.push_back(source.name);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  cli::MeasureOptions options;
  if (!cli::parse_measure(pointers, options))
    throw cli::UsageError("found an option that prints; expected options of a measurement");

  cli::Measurement measurement;
  cli::FoundImage& found = measurement.found;
  describe(source, found.image);
  take_companions(companions, options.find.islands);
  found.options = options.find;
  std::string json;
  {
    const nb::gil_scoped_release released;
    const Runtime::RunningJob running(Runtime::get());
    io::OutputSet outputs;
    std::vector<std::string> temporaries;
    auto inputs = cli::given_files_of(options.find);
    inputs.push_back(options.find.input.path);
    inputs.push_back(options.list);
    for (const auto& path : options.find.outputs) {
      temporaries.push_back(
          outputs.add(path, cli::overwrite_policy(options.find.overwrite), inputs));
    }
    Runtime& runtime = Runtime::get();
    if (options.find.run.threads) runtime.start(options.find.run.threads);
    runtime.run(runtime.backend(on), source.stream, [&](auto& place) {
      using Exec = std::remove_cvref_t<decltype(place.space)>;
      with_pixels(place.space, source, found, [&](const auto& pixels, std::int64_t blanked) {
        cli::settle_measurement(options, measurement);
        found.note_blanked(blanked);
        cli::ImageMeasurer<Exec> measurer(place.space, place.steps);
        measurer(pixels, options, measurement);
      });
    });
    cli::make_table(measurement);
    cli::write_measurement(temporaries, options, measurement);
    outputs.commit();
    json = cli::measurement_json(measurement, options);
    found.image.pixels = {};
  }
  return nb::make_tuple(as_dict(measurement.table.table), json, measurement.table.notes);
}

}  // namespace kastor::python
