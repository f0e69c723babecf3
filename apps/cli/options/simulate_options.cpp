// SPDX-License-Identifier: Apache-2.0
#include "cli/options/simulate_options.hpp"

#include "cli/options/scene_options.hpp"
#include "cli/report/format.hpp"
#include "cli/run/outputs.hpp"

namespace kastor::cli {
namespace {

constexpr std::int64_t largest_size = 1 << 20;

void add_size_options(CommandLine& line, Size& size) {
  const IntegerRange range{1, largest_size, "an integer from 1 to 1048576"};
  line.integer(
      "--size", "N", range,
      [&size](std::int64_t n) {
        size = {n, n};
      },
      "Set width and height [pixel]. Excludes --width and\n"
      "--height. Default: 2048.",
      fmt::format("{}", size.width));
  line.integer(
      "--width", "N", range, [&size](std::int64_t n) { size.width = n; },
      "Set the width [pixel]. Default: 2048.", fmt::format("{}", size.width));
  line.integer(
      "--height", "N", range, [&size](std::int64_t n) { size.height = n; },
      "Set the height [pixel]. Default: 2048.", fmt::format("{}", size.height));
  line.excludes("--size", "--width");
  line.excludes("--size", "--height");
}

void add_output_options(CommandLine& line, SimulateOptions& options, const std::string& help) {
  line.heading("Output");
  line.value(
      "-o,--output", "FILE.fits", [&options](const std::string& path) { options.output = path; },
      help);
  line.requires_option("-o");
  line.check([&line, &options] {
    if (line.given("-o")) require_fits_ending("-o", options.output);
  });
  add_overwrite_flag(line, options.overwrite);
  add_type_option(line, options.type);
  add_run_options(line, options.run);
  add_memory_options(line, options.memory, "Make");
}

std::string size_as_typed(const Size& size) {
  return fmt::format("--width {} --height {}", size.width, size.height);
}

}  // namespace

bool parse_sky(Arguments arguments, SimulateOptions& options) {
  constexpr double largest = 1e30;  // no pixel overflows a float
  CommandLine line(
      "kastor simulate sky",
      "Write a simulated radio field [Jy/beam], or with --gain an optical one [adu].\n"
      "By default: noise correlated over the beam, and Gaussian sources, some of them\n"
      "extended, whose fluxes follow a power law. Write the true sources beside it:\n"
      "sky_truth.csv for sky.fits.\n");
  line.heading("Sky");
  add_size_options(line, options.size);
  line.value(
      "--seed", "N",
      [&options](const std::string& text) { options.sky.seed = parse_unsigned("--seed", text); },
      "Set the seed of the random numbers. The same seed\ngives the same sky. Default: 42.",
      fmt::format("{}", options.sky.seed));
  line.real(
      "--noise", "SIGMA", {0, true, largest, "a number from 0 to 1e30"},
      [&options](double noise) { options.sky.noise = noise; },
      "Set the standard deviation of the noise [Jy/beam].\nDefault: 0.0133.",
      fmt::format("{}", options.sky.noise));
  line.real(
      "--beam", "FWHM", {1, true, 32, "a number from 1 to 32"},
      [&options](double fwhm) { options.sky.beam_fwhm = fwhm; },
      "Set the FWHM of the beam [pixel of 2 arcsec], 1 to 32.\nDefault: 5.",
      fmt::format("{}", options.sky.beam_fwhm));
  line.real(
      "--sources-per-mpx", "N", {0, true, 1e6, "a number from 0 to 1e6"},
      [&options](double density) { options.sky.sources_per_mpx = density; },
      "Set the mean number of sources per 10^6 pixels, whose\n"
      "fluxes follow a power law. Default: 60, but 0 with\n--add or --gain.");
  line.standard_depends("--sources-per-mpx");
  add_scene_options(line, options);
  add_output_options(line, options, "Write the image to this file (required).");
  line.closing(
      "KIND is point (as wide as the beam), gaussian, disk, ring, lobes (two Gaussians)\n"
      "or star (a Moffat profile of exponent 3.5). Behind the colon:\n"
      "  count=N         number of sources, or of pairs\n"
      "  snr=A..B        true peak over true noise, uniform in its logarithm; with\n"
      "                  --gain that of a matched filter over the noise of the sky and\n"
      "                  the read-out; default 10..50\n"
      "  size=A..B       size [pixel]: FWHM of gaussian and star, diameter of disk and\n"
      "                  ring, extent of lobes\n"
      "  axis-ratio=Q    minor over major axis of gaussian\n"
      "  separation=D    make pairs D pixels apart\n"
      "  pair-ratio=R    flux of the fainter over that of the brighter\n"
      "  place=grid      one in each cell of a grid, at least half a cell from the\n"
      "                  others; default random\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits --size 4096 --seed 7\n"
      "  kastor find sky.fits\n"
      "  kastor simulate sky -o pairs.fits --add point:count=50,separation=8\n"
      "  kastor simulate sky -o stars.fits --gain 2 --level 100 --add star:count=100");
  return line.parse(arguments);
}

bool parse_diracs(Arguments arguments, SimulateOptions& options) {
  CommandLine line("kastor simulate diracs",
                   "Write an image of zeros with single pixels of 1 on a square grid, a test\n"
                   "image for convolution: image[S/2::S, S/2::S] = 1.\n");
  line.heading("Grid");
  add_size_options(line, options.size);
  line.integer(
      "--spacing", "S", {1, largest_size, "an integer from 1 to 1048576"},
      [&options](std::int64_t spacing) { options.spacing = spacing; },
      "Set the distance between points [pixel]. Default: 16.", fmt::format("{}", options.spacing));
  add_output_options(line, options, "Write the image to this file (required).");
  line.closing(
      "Example:\n"
      "  kastor simulate diracs -o diracs.fits --size 2048 --spacing 16");
  return line.parse(arguments);
}

CommandDescription simulate_overview() {
  CommandDescription about;
  about.name = "kastor simulate";
  about.purpose = "Write a simulated image.\n";
  about.usage = {"kastor simulate sky|diracs [OPTIONS...] -o FILE.fits"};
  about.parts_heading = "Kinds";
  about.parts = {{"sky", "a radio or optical field, and a table of its true sources"},
                 {"diracs", "zeros with single pixels of 1 on a grid"}};
  about.closing =
      "'kastor simulate sky --help' and 'kastor simulate diracs --help' list the\n"
      "options.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor simulate diracs -o diracs.fits";
  return about;
}

std::string sky_as_typed(const SimulateOptions& options) {
  const SkyParams& sky = options.sky;
  return fmt::format("kastor simulate sky {} --seed {} --noise {} --beam {} --sources-per-mpx {}",
                     size_as_typed(options.size), sky.seed, sky.noise, sky.beam_fwhm,
                     sky.sources_per_mpx) +
         scene_as_typed(options);
}

std::string diracs_as_typed(const SimulateOptions& options) {
  return fmt::format("kastor simulate diracs {} --spacing {}", size_as_typed(options.size),
                     options.spacing);
}

}  // namespace kastor::cli
