// SPDX-License-Identifier: Apache-2.0
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/picture.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cli/outputs.hpp"
#include "cli/picture_options.hpp"
#include "cli/report.hpp"
#include "cli/session.hpp"
#include "cli/streams.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

struct FindOptions {
  InputOptions input;
  FindParams find;
  std::vector<std::string> outputs;
  std::optional<std::string> picture;
  bool overwrite = false;
  RunOptions run;
  bool json = false;
};

bool parse(Arguments arguments, FindOptions& options) {
  CommandLine line("kastor find",
                   "Find the sources of an image and measure them: clip, threshold, label,\n"
                   "measure. Prints the 20 brightest and writes catalogues.\n");
  add_input_options(line, options.input);
  add_find_options(line, options.find);
  line.heading("Output");
  line.values("-o,--output", "CATALOGUE", options.outputs,
              "Write all sources; .csv, .ecsv, .fits or .vot (VOTable)\nchooses the format. May be "
              "given several times.");
  line.value(
      "--picture", "FILE.png", [&options](const std::string& path) { options.picture = path; },
      "Draw the image with its sources, as 'kastor view\n--catalogue' does.");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Columns: id, x_cen, y_cen, flux_sum, flux_peak, x_peak, y_peak, n_pix, x_min,\n"
      "x_max, y_min, y_max. Positions are in pixels from 0, the centre of the first\n"
      "pixel of the file being (0, 0); fluxes in the image's unit (BUNIT); x_cen and\n"
      "y_cen are flux-weighted. The default is the classic recipe: strictly above 5\n"
      "clipped standard deviations, 4-connected.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o sources.csv -o sources.fits");
  return line.parse(arguments);
}

/// The targets' temporary files, to be written later.
struct Staged {
  struct StagedCatalogue {
    std::string path;
    io::TableFormat format;
  };
  std::vector<StagedCatalogue> catalogues;
  std::string picture;
};

Staged stage(const FindOptions& options, io::OutputSet& outputs) {
  Staged staged;
  for (const auto& target : options.outputs) {
    staged.catalogues.push_back({target, catalogue_format(target)});
  }
  if (options.picture) require_png_ending("--picture", *options.picture);

  const auto add = [&](const std::string& target) {
    return outputs.add(target, overwrite_policy(options.overwrite), {options.input.path});
  };
  for (auto& catalogue : staged.catalogues) catalogue.path = add(catalogue.path);
  if (options.picture) staged.picture = add(*options.picture);
  return staged;
}

io::PictureParams picture_params() {
  io::PictureParams params;
  params.font = font_of_environment();
  return params;
}

std::vector<std::string> targets_of(const FindOptions& options) {
  auto targets = options.outputs;
  if (options.picture) targets.push_back(*options.picture);
  return targets;
}

}  // namespace

void run_find(Arguments arguments) {
  FindOptions options;
  if (!parse(arguments, options)) return;
  io::OutputSet outputs;
  const auto staged = stage(options, outputs);
  const auto picture = picture_params();
  if (options.picture) io::require_font(picture);  // now, not after the work

  Session session(options.run);
  io::FitsImage image;
  FindResult result;
  session.on_image(options.input, options.picture ? HostPixels::needed : HostPixels::not_needed,
                   image, [&](const auto& space, const auto& pixels) {
                     const ScopedStep step(session.steps(), "find");
                     about_image(image,
                                 [&] { result = find_sources(space, pixels, options.find); });
                   });

  session.steps().begin("write");
  const auto provenance = provenance_of(image,
                                        "kastor find" + input_options_as_typed(options.input) +
                                            " " + find_options_as_typed(options.find),
                                        image.hdu.unit);
  for (const auto& catalogue : staged.catalogues) {
    io::write_catalogue(catalogue.path, catalogue.format, result.sources, provenance);
  }
  if (options.picture) {
    io::write_picture(staged.picture, image, result.sources, picture, provenance);
  }
  session.steps().end();

  // The results leave before the outputs appear: a full stdout is a failure, and a failure leaves
  // no output.
  session.end_progress();
  if (options.json) {
    print_result(find_json(image, result));
  } else if (!options.run.quiet || staged.catalogues.empty()) {
    print_result(find_text(image, options.find, result));
  }
  outputs.commit();
  session.close(options.json ? "" : wrote_note(targets_of(options)), pixels_of(image));
}

}  // namespace kastor::cli
