// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include "cli/options/names_option.hpp"
#include "cli/options/options.hpp"
#include "cli/run/ranks.hpp"
#include "find/catalogue_formats.hpp"
#include "find/find_many.hpp"
#include "find/find_one.hpp"
#include "find/find_options.hpp"
#include "find/find_streamed.hpp"
#include "subcommands.hpp"

namespace kastor::cli {

void limit_given(IslandOptions& options, std::int64_t max_unpacked) {
  for (auto* file : {&options.mask, &options.detection.image, &options.photometry.weight})
    if (*file) (*file)->part.max_unpacked = max_unpacked;
  if (auto* kernel = std::get_if<FilterFile>(&options.detection.kernel))
    kernel->max_unpacked = max_unpacked;
  for (auto* given : {&options.background, &options.rms}) {
    if (!*given) continue;
    if (auto* file = std::get_if<GivenFile>(&**given)) file->part.max_unpacked = max_unpacked;
  }
}

void settle_islands(const CommandLine& line, const IslandOptionsParser& islands,
                    FindOptions& options) {
  options.islands = islands.resolved(line, options.find);
  options.islands.detects_fill = !options.input.blank;
  options.islands.detection.blank = options.input.blank;
  limit_given(options.islands, options.input.read.max_unpacked);
}

bool parse_find(Arguments arguments, FindOptions& options) {
  CommandLine line("kastor find",
                   "Find and measure the sources in an image: clip, threshold, label, measure.\n"
                   "Print the 20 brightest, and write catalogues.\n");
  IslandOptionsParser islands;
  line.positionals("IMAGE", options.images,
                   "FITS images: plain, .gz, .bz2 or tile-compressed.\n"
                   "@FILE stands for the images that FILE lists, one name\nper line.");
  add_part_options(line, options.input.read);
  add_blank_option(line, options.input,
                   "Default: none with --preset lesson; a\n"
                   "constant that fills a part of the image with radio and\n"
                   "sextractor, which none switches off.");
  add_unit_option(line, options.unit);
  add_find_options(line, options.find);
  islands.add_to(line);
  line.heading("Output");
  line.values("-o,--output", "CATALOGUE", options.outputs,
              "Write the catalogue; its suffix selects the format:\n"
              ".csv, .ecsv, .fits, .vot (VOTable), .cat (ASCII of\n"
              "SExtractor), .reg (DS9) or .crtf (CASA). May be\n"
              "repeated. For several images, name a folder; it is\n"
              "created if it ends with a slash.");
  line.values("--format", "FORMAT", options.formats,
              "Set the format of catalogues in a folder: fits, csv,\n"
              "ecsv, vot, cat, reg, crtf or skymodel. May be\n"
              "repeated. Default: fits.");
  add_names_option(line, options.names);
  line.flag("--resume", options.resume,
            "Skip images whose catalogues in the folder have the\n"
            "same pixels, options and version of Kastor.");
  line.value(
      "--labels", "FILE.fits", [&options](const std::string& path) { options.labels = path; },
      "Write an image of the source id of every pixel.");
  line.value(
      "--picture", "FILE.png", [&options](const std::string& path) { options.picture = path; },
      "Draw the image with its sources, as 'kastor view\n"
      "--catalogue' does, or with its components if these\nwere asked for by --components.");
  add_overwrite_flag(line, options.overwrite);
  add_json_flag(line, options.json);
  add_memory_options(line, options.memory, "Read");
  add_run_options(line, options.run);
  line.closing(
      "The preset lesson is the recipe of a public course on GPU programming with radio\n"
      "images: detect pixels strictly above 5 clipped standard deviations, connect them\n"
      "along their edges, and sum them without subtracting a background. Its columns\n"
      "are id, x_cen, y_cen, flux_sum, flux_peak, x_peak, y_peak, n_pix, x_min, x_max,\n"
      "y_min and y_max. Pixels count from 0: the centre of the first pixel of the file\n"
      "is (0, 0). Fluxes are in the image unit (BUNIT), and x_cen and y_cen are\n"
      "flux-weighted.\n"
      "\n"
      "The presets radio and sextractor measure the background and the noise on a mesh\n"
      "of cells, and give sky positions, flux densities, sizes and their errors\n"
      "(docs/catalogue.md lists the columns and explains the bits of flags). Components\n"
      "are Gaussians that are fitted to the islands: each has a centre, a peak, an\n"
      "integrated flux, a shape and errors (docs/components.md).\n"
      "\n"
      "An image that does not fit into the memory limit is read by bands, with the\n"
      "same catalogue; so far with --preset lesson. The processes that mpirun or srun\n"
      "starts share the rows of one image, if Kastor was built for MPI\n"
      "(docs/clusters.md).\n"
      "\n"
      "For several images, one table is printed, or with --json one object per line.\n"
      "If an image fails, it is reported, the others are processed, and the exit code\n"
      "is 1.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor find sky.fits -o sources.csv -o sources.fits\n"
      "  kastor find sky.fits --preset radio -o islands.vot -o islands.reg\n"
      "  kastor find sky.fits --preset radio --components gaussians.vot\n"
      "  kastor find sky.fits --preset radio --components gaul.fits --names pybdsf\n"
      "  kastor find --preset radio --seed 6 --dump-config > radio.toml\n"
      "  kastor find sky.fits --config radio.toml\n"
      "  kastor find sky*.fits -o catalogues/ --format fits --format reg");
  line.check([&] {
    for (const auto& word : options.formats) (void)catalogue_format_named(word);
    settle_islands(line, islands, options);
  });
  return line.parse(arguments);
}

void run_find(Arguments arguments) {
  FindOptions options;
  if (!parse_find(arguments, options)) return;
  if (is_of_many(options)) {
    expect_one_process("kastor find of many images");
    find_many(std::move(options));
  } else if (is_streamed(options)) {
    find_streamed(std::move(options));
  } else {
    find_one(std::move(options));
  }
}

}  // namespace kastor::cli
