// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/fits_image.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/source_finder.hpp>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/report/report.hpp"
#include "cli/report/streams.hpp"
#include "cli/run/blank_pixels.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/source_labels.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct LabelOptions {
  InputOptions input;
  FindParams find;
  std::string output;
  bool overwrite = false;
  RunOptions run;
  bool json = false;
};

bool parse(Arguments arguments, LabelOptions& options) {
  CommandLine line("kastor label",
                   "Write an image of labels: 0 for the background, 1 to N for the pixels of the\n"
                   "sources that 'kastor find' lists under these ids.\n");
  add_input_options(line, options.input);
  add_blank_option(line, options.input, "Default: none.");
  add_find_options(line, options.find);
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.fits", [&options](const std::string& path) { options.output = path; },
      "Write the image to this file (required).");
  line.requires_option("-o");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Labels are int32, or int64 beyond 2147483647 sources. They follow the raster\n"
      "order of the first pixel of each source. The world coordinates of the input are\n"
      "kept.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor label sky.fits -o labels.fits");
  line.check([&] {
    if (line.given("-o")) require_fits_ending("-o", options.output);
  });
  return line.parse(arguments);
}

}  // namespace

void run_label(Arguments arguments) {
  LabelOptions options;
  if (!parse(arguments, options)) return;
  io::OutputSet outputs;
  const std::string temporary =
      outputs.add(options.output, overwrite_policy(options.overwrite), {options.input.path});

  Session session(options.run);
  io::FitsImage image;
  FindResult result;
  const char* type = "";
  session.on_image(
      options.input, HostPixels::not_needed, image, [&](const auto& space, const auto& pixels) {
        using Exec = std::decay_t<decltype(space)>;
        using T = typename std::decay_t<decltype(pixels)>::non_const_value_type;
        SourceFinder<Exec, T> finder(space, options.find);
        {
          const ScopedStep step(session.steps(), "find");
          about_image(image, [&] { result = finder(as_const_image<Exec>(pixels)); });
        }
        const ScopedStep step(session.steps(), "write");
        const auto provenance =
            provenance_of(image,
                          "kastor label" + input_options_as_typed(options.input) + " " +
                              find_options_as_typed(options.find),
                          "");
        type = write_source_labels(space, temporary, image, finder.labels(), result, provenance);
      });

  std::vector<std::string> notes;
  for (const auto& note :
       {blank_note(options.input, session.blanked()), sky_note(options.find, result)}) {
    if (!note.empty()) notes.push_back(note);
  }
  session.end_progress();
  if (options.json) {
    print_result(label_json(image, result, type, notes));
  } else if (!options.run.quiet) {
    print_result(label_text(image, options.find, result, notes));
  }
  outputs.commit();
  session.close(options.json ? "" : wrote_note({options.output}), pixels_of(image));
}

}  // namespace kastor::cli
