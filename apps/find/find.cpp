// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "cli/options/options.hpp"
#include "find/catalogue_formats.hpp"
#include "find/find_many.hpp"
#include "find/find_one.hpp"
#include "find/find_options.hpp"
#include "subcommands.hpp"

namespace kastor::cli {
namespace {

bool parse(Arguments arguments, FindOptions& options) {
  CommandLine line("kastor find",
                   "Find the sources of an image and measure them: clip, threshold, label,\n"
                   "measure. Prints the 20 brightest and writes catalogues.\n");
  IslandOptionsParser islands;
  line.positionals("IMAGE", options.images,
                   "FITS files: plain, .gz, .bz2 or tile-compressed; @FILE\n"
                   "stands for the lines of FILE, one name each.");
  add_part_options(line, options.input.read);
  add_find_options(line, options.find);
  islands.add_to(line);
  line.heading("Output");
  line.values("-o,--output", "CATALOGUE", options.outputs,
              "Write all sources; the ending chooses the format:\n"
              ".csv, .ecsv, .fits, .vot (VOTable), .reg (DS9),\n"
              ".crtf (CASA). May be given several times. Of several\n"
              "images: a folder, made if it ends with a slash.");
  line.values("--format", "FORMAT", options.formats,
              "Of the catalogues in a folder: fits (default), csv,\n"
              "ecsv, vot, reg or crtf. May be given several times.");
  line.flag("--resume", options.resume,
            "Skip images whose catalogues in the folder are of the\n"
            "same pixels, options and version of Kastor.");
  line.value(
      "--labels", "FILE.fits", [&options](const std::string& path) { options.labels = path; },
      "Write the source of every pixel by its id.");
  line.value(
      "--picture", "FILE.png", [&options](const std::string& path) { options.picture = path; },
      "Draw the image with its sources, as 'kastor view\n--catalogue' does.");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_run_options(line, options.run);
  line.closing(
      "Without --preset the classic recipe is followed: pixels strictly above 5 clipped\n"
      "standard deviations, 4-connected. Its columns: id, x_cen, y_cen, flux_sum,\n"
      "flux_peak, x_peak, y_peak, n_pix, x_min, x_max, y_min, y_max; pixels count from\n"
      "0, the centre of the first pixel of the file being (0, 0); fluxes are in the\n"
      "image's unit (BUNIT); x_cen and y_cen are flux-weighted.\n"
      "\n"
      "The other presets measure the sky's background and noise on a mesh of cells, and\n"
      "give positions on the sky, flux densities, sizes and their errors\n"
      "(docs/catalogue.md lists the columns and what the bits of flags mean).\n"
      "\n"
      "Of several images one table is printed, with --json one object a line; one that\n"
      "fails is reported, the others are done, and the exit code is 1.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o sources.csv -o sources.fits\n"
      "  kastor find sky.fits --preset radio -o islands.vot -o islands.reg\n"
      "  kastor find --preset radio --seed 6 --dump-config > radio.toml\n"
      "  kastor find sky.fits --config radio.toml\n"
      "  kastor find sky*.fits -o catalogues/ --format fits --format reg");
  line.check([&] {
    for (const auto& word : options.formats) (void)catalogue_format_named(word);
    options.islands = islands.resolved(line, options.find);
  });
  return line.parse(arguments);
}

}  // namespace

void run_find(Arguments arguments) {
  FindOptions options;
  if (!parse(arguments, options)) return;
  if (is_of_many(options)) {
    find_many(std::move(options));
  } else {
    find_one(std::move(options));
  }
}

}  // namespace kastor::cli
