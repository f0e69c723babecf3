// SPDX-License-Identifier: Apache-2.0
#include "measure/measure_options.hpp"

#include <algorithm>
#include <set>

#include "cli/options/names_option.hpp"
#include "cli/options/numbers.hpp"
#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"
#include "find/catalogue_formats.hpp"

namespace kastor::cli {
namespace {

constexpr double largest_radius = 1e6;
constexpr std::size_t most_radii = 32;

std::vector<ApertureRadius> parse_radii(const std::string& text) {
  std::vector<ApertureRadius> radii;
  std::set<double> seen;
  for (std::size_t at = 0; at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    const auto number = whole_number<double>(part);
    const bool is_radius = number && *number > 0 && *number <= largest_radius;
    if (!is_radius || !seen.insert(*number).second || radii.size() == most_radii) {
      throw UsageError(fmt::format(
          "--aperture: found '{}'; expected up to {} different radii above 0 and up to 1000000 "
          "pixels, separated by commas, as in 3,5,7.5",
          text, most_radii));
    }
    radii.push_back({fmt::format("{}", *number), *number});
    at = comma + 1;
  }
  return radii;
}

void add_positions_and_fits(CommandLine& line, MeasureOptions& options) {
  line.heading("Positions and fits");
  line.value(
      "--at", "LIST", [&options](const std::string& path) { options.list = path; },
      "Measure at the positions in this catalogue, by any\n"
      "program: FITS table, VOTable, ECSV or CSV. Those on\n"
      "the sky are used if the image has celestial\ncoordinates, else those in pixels.");
  line.requires_option("--at");
  line.choice(
      "--free", {"flux", "position", "shape"},
      [&options](const std::string& word) {
        options.free = word == "shape"      ? FreeParameters::shape
                       : word == "position" ? FreeParameters::position
                                            : FreeParameters::flux;
      },
      "Fit the heights of Gaussians alone, or their positions\n"
      "too, or also their shapes. Default: flux.",
      "flux");
  line.choice(
      "--size", {"list", "beam"},
      [&options](const std::string& word) { options.use_shapes = word == "list"; },
      "Take the shapes from the list, where it has fitted\n"
      "ones, else from the beam, or all from the beam.\nDefault: list.",
      "list");
  line.value(
      "--aperture", "R,R,...",
      [&options](const std::string& text) { options.apertures = parse_radii(text); },
      "Also sum the pixels within circles of these radii\n[pixel], as in 3,5,7.5.");
}

void add_outputs(CommandLine& line, MeasureOptions& options) {
  line.heading("Output");
  line.values("-o,--output", "FILE", options.find.outputs,
              "Write the table; the suffix selects the format: .csv,\n"
              ".ecsv, .fits, .vot (VOTable), .cat (ASCII of\n"
              "SExtractor), .reg (DS9) or .crtf (CASA). May be\n"
              "repeated.");
  add_names_option(line, options.find.names);
  add_overwrite_flag(line, options.find.overwrite);
  add_json_flag(line, options.find.json);
  add_run_options(line, options.find.run);
}

void settle_measure(const IslandOptionsParser& islands, MeasureOptions& options) {
  auto& find = options.find;
  std::vector<CatalogueFormat> formats;
  for (const auto& path : find.outputs) formats.push_back(table_or_regions_of("-o", path));
  check_names(find.names, formats);
  find.images = {find.input.path};
  find.islands = islands.resolved_for_measuring(find.find.clip);
  find.islands.detects_fill = !find.input.blank;
  find.islands.detection.blank = find.input.blank;
  limit_given(find.islands, find.input.read.max_unpacked);
}

/// What says which pixels are used, and what their background and noise are.
std::string image_as_typed(const IslandOptions& islands) {
  std::string text = fmt::format(" --preset {}", name_of(islands.preset));
  text += sky_as_typed(islands);
  if (islands.background && islands.rms) return text;
  const auto& mesh = islands.mesh;
  text += fmt::format(" --cell {}x{} --kappa {} --max-passes {}", mesh.cell_width, mesh.cell_height,
                      mesh.clip.kappa, mesh.clip.max_passes);
  return text + mesh_as_typed(mesh);
}

}  // namespace

const char* name_of(FreeParameters free) {
  switch (free) {
    case FreeParameters::position:
      return "position";
    case FreeParameters::shape:
      return "shape";
    case FreeParameters::flux:
      break;
  }
  return "flux";
}

bool parse_measure(Arguments arguments, MeasureOptions& options) {
  CommandLine line("kastor measure",
                   "Measure an image at given positions: fluxes of Gaussians of the beam's or a\n"
                   "given shape (forced photometry), and sums in apertures.\n");
  IslandOptionsParser islands(Preset::radio);
  line.positional("IMAGE", options.find.input.path, "FITS image to measure.");
  add_part_options(line, options.find.input.read);
  add_blank_option(line, options.find.input,
                   "Default: a constant that fills a part of the\nimage, which none switches off.");
  add_unit_option(line, options.find.unit);
  add_positions_and_fits(line, options);
  islands.add_measuring_to(line);
  add_clip_options(line, options.find.find.clip);
  add_outputs(line, options);
  line.closing(
      "The table has one row for each of LIST, in its order. Fluxes may be negative. A\n"
      "position that is not on the image or has only blank pixels around it has no\n"
      "figures, and a flag. Positions within two beam widths are fitted together.\n"
      "\n"
      "Example:\n"
      "  kastor simulate sky -o sky.fits\n"
      "  kastor measure sky.fits --at sky_truth.csv --aperture 4,6 -o fluxes.fits");
  line.check([&] { settle_measure(islands, options); });
  return line.parse(arguments);
}

std::string measure_options_as_typed(const MeasureOptions& options) {
  std::string text = "kastor measure" + input_options_as_typed(options.find.input);
  if (options.find.unit) text += " --unit " + *options.find.unit;
  text += fmt::format(" --at {} --free {} --size {}", options.list, name_of(options.free),
                      options.use_shapes ? "list" : "beam");
  std::string radii;
  for (const auto& each : options.apertures) radii += (radii.empty() ? "" : ",") + each.text;
  if (!radii.empty()) text += " --aperture " + radii;
  return text + image_as_typed(options.find.islands) + names_as_typed(options.find.names);
}

}  // namespace kastor::cli
