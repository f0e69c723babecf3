// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/fits_image.hpp>
#include <kastor/io/marked_sources.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/picture.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/options/picture_options.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/find_outputs.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct ViewOptions {
  InputOptions input;
  PictureOptions picture;
  std::optional<std::string> catalogue;
  std::string output;
  bool overwrite = false;
  RunOptions run;
};

bool parse(Arguments arguments, ViewOptions& options) {
  CommandLine line("kastor view",
                   "Draw an image as a PNG picture with axes and a colour bar, and mark the\n"
                   "sources of a catalogue.\n");
  add_input_options(line, options.input);
  line.value(
      "--catalogue", "FILE", [&options](const std::string& path) { options.catalogue = path; },
      "Mark the sources of this catalogue: FITS table,\nVOTable, ECSV or CSV, of Kastor or as "
      "'compare' takes.");
  add_picture_options(line, options.picture);
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.png", [&options](const std::string& path) { options.output = path; },
      "Write the picture to this file (required).");
  line.requires_option("-o");
  add_overwrite_flag(line, options.overwrite);
  add_run_options(line, options.run);
  line.closing(
      "The first row is at the bottom. Blank pixels (NaN, infinite, BLANK) are bluish\n"
      "grey (#96aac8), a colour that no colour map contains. An image of a few rows or\n"
      "columns is stretched to 24 pixels or more, and a constant image has the middle\n"
      "colour. With --scale log, a lower percentile that is not positive is replaced by\n"
      "1/1000 of the upper limit.\n"
      "\n"
      "A catalogue of 'kastor find' has the columns x_cen, y_cen, x_min, x_max, y_min\n"
      "and y_max, and id or island_id for --labels; a table of its components is drawn\n"
      "as ellipses (FWHM). Of others the positions are taken as by 'kastor compare':\n"
      "on the sky if the image has celestial coordinates, else in pixels. Their marks\n"
      "have the size (FWHM) of the source as radius.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky --size 1024 -o sky.fits\n"
      "  kastor find sky.fits -o sources.fits\n"
      "  kastor view sky.fits --catalogue sources.fits --axes sky -o sky.png");
  line.check([&] {
    if (line.given("-o")) require_png_ending("-o", options.output);
    check_picture_options(options.picture);
    if (options.picture.params.labels && !options.catalogue)
      throw UsageError("--labels: found without --catalogue; expected both");
  });
  return line.parse(arguments);
}

io::MarkedSources sources_of(const ViewOptions& options, const io::FitsImage& image) {
  if (!options.catalogue) return {};
  std::string why;
  const auto wcs = wcs_of(image, why);
  return io::read_marked_sources(*options.catalogue, wcs ? &*wcs : nullptr,
                                 options.picture.params.labels);
}

std::string options_as_typed(const ViewOptions& options) {
  std::string text = "kastor view" + input_options_as_typed(options.input);
  if (options.catalogue) text += " --catalogue " + *options.catalogue;
  return text + " " + picture_options_as_typed(options.picture.params);
}

}  // namespace

void run_view(Arguments arguments) {
  ViewOptions options;
  if (!parse(arguments, options)) return;
  if (options.picture.params.font.empty()) options.picture.params.font = font_of_environment();
  std::vector<std::string> inputs{options.input.path};
  if (options.catalogue) inputs.push_back(*options.catalogue);
  io::OutputSet outputs;
  const std::string temporary =
      outputs.add(options.output, overwrite_policy(options.overwrite), inputs);
  io::require_font(options.picture.params);

  Session session(options.run);
  session.steps().begin("read");
  const io::FitsImage image = io::read_image(options.input.path, options.input.read);
  const auto marked = sources_of(options, image);
  session.steps().end();

  session.steps().begin("draw");
  const auto provenance = provenance_of(image, options_as_typed(options), image.hdu.unit);
  if (marked.ellipses.empty()) {
    io::write_picture(temporary, image, marked.sources, options.picture.params, provenance);
  } else {
    io::write_picture_with_ellipses(temporary, image, marked.ellipses, options.picture.params,
                                    provenance);
  }
  session.steps().end();

  session.end_progress();
  outputs.commit();
  std::string note = wrote_note({options.output});
  for (const auto& about : marked.notes) note += "; " + about;
  session.close(note, pixels_of(image));
}

}  // namespace kastor::cli
