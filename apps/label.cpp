// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/label.hpp>
#include <kastor/source_finder.hpp>
#include <limits>
#include <string>

#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/report.hpp"
#include "cli/session.hpp"
#include "cli/streams.hpp"
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
  CommandLine line(
      "kastor label",
      "Write an image of labels: 0 for background, 1..N for the pixels of the sources\n"
      "that 'kastor find' would list under these ids.\n");
  add_input_options(line, options.input);
  add_find_options(line, options.find);
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.fits", [&options](const std::string& path) { options.output = path; },
      "The image to write (required).");
  line.requires_option("-o");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Labels are int32 (int64 beyond 2147483647 sources), in the order of each\n"
      "source's first pixel; the world coordinates of the input are kept.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor label sky.fits -o labels.fits");
  return line.parse(arguments);
}

struct LabelJob {
  const LabelOptions& options;
  const io::FitsImage& image;
  const std::string& temporary;
  Session& session;
  FindResult result;
  const char* type = "int32";

  template <class Label, class Exec>
  void write(const Exec& space, const RunLabels<Exec>& runs) {
    using LabelImage = Kokkos::View<Label**, Kokkos::LayoutRight, typename Exec::memory_space>;
    const ScopedStep step(session.steps(), "write");
    const LabelImage labels(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::labels"),
        static_cast<std::size_t>(image.ny), static_cast<std::size_t>(image.nx));
    write_labels<Exec, Label>(space, runs, labels);
    const auto host = readable_on_host(space, labels);
    const auto provenance = provenance_of(image,
                                          "kastor label" + input_options_as_typed(options.input) +
                                              " " + find_options_as_typed(options.find),
                                          "");
    io::write_image(
        temporary, io::pixel_rows(host), io::kept_cards(image.header_cards, image.fits_axes),
        provenance,
        {{"NSOURCES", static_cast<std::int64_t>(result.sources.size()), "number of labels"},
         {"THRESH", result.threshold, "foreground is above this pixel value"}});
  }

  template <class Exec, class Pixels>
  void run(const Exec& space, const Pixels& pixels) {
    using T = typename Pixels::non_const_value_type;
    session.steps().begin("find");
    SourceFinder<Exec, T> finder(space, options.find);
    about_image(image, [&] { result = finder(as_const_image<Exec>(pixels)); });
    session.steps().end();
    if (finder.labels().components > std::numeric_limits<std::int32_t>::max()) {
      type = "int64";
      write<std::int64_t>(space, finder.labels());
    } else {
      write<std::int32_t>(space, finder.labels());
    }
  }
};

}  // namespace

void run_label(Arguments arguments) {
  LabelOptions options;
  if (!parse(arguments, options)) return;
  require_fits_ending(options.output);
  io::OutputSet outputs;
  const std::string temporary =
      outputs.add(options.output, overwrite_policy(options.overwrite), {options.input.path});

  Session session(options.run);
  io::FitsImage image;
  LabelJob job{options, image, temporary, session, {}};
  session.on_image(options.input, HostPixels::not_needed, image,
                   [&](const auto& space, const auto& pixels) { job.run(space, pixels); });

  session.end_progress();
  if (options.json) {
    print_result(label_json(image, job.result, job.type));
  } else if (!options.run.quiet) {
    print_result(label_text(image, options.find, job.result));
  }
  outputs.commit();
  session.close(options.json ? "" : wrote_note({options.output}), pixels_of(image));
}

}  // namespace kastor::cli
