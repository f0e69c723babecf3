// SPDX-License-Identifier: Apache-2.0
#include "cli/find_islands.hpp"

#include <algorithm>
#include <cmath>
#include <kastor/catalogue.hpp>
#include <kastor/io/island_regions.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/picture.hpp>
#include <string>
#include <utility>

#include "cli/find_outputs.hpp"
#include "cli/format.hpp"
#include "cli/island_job.hpp"
#include "cli/island_report.hpp"
#include "cli/outputs.hpp"
#include "cli/report.hpp"
#include "cli/session.hpp"
#include "cli/streams.hpp"

namespace kastor::cli {
namespace {

constexpr double beams_in_cell = 20;
constexpr std::int64_t smallest_cell = 32;
constexpr std::int64_t usual_cell = 64;

/// What the header says of the sky, and what follows from it for the options.
struct OnTheSky {
  io::BeamReading beam;
  std::optional<io::Wcs> wcs;
  std::string why_no_wcs;
};

/// Why --min-beams means nothing here.
std::string no_beam_in_pixels(const OnTheSky& sky) {
  if (!sky.beam.beam)
    return "found no beam; expected one for --min-beams, in the header or by --beam";
  return "found a beam, but no size of the pixels; expected celestial coordinates for --min-beams" +
         (sky.why_no_wcs.empty() ? "" : " (" + sky.why_no_wcs + ")");
}

OnTheSky look_at_header(const io::FitsImage& image, FindOptions& options) {
  OnTheSky sky;
  sky.beam = options.islands.beam ? io::parse_beam(*options.islands.beam)
                                  : io::read_beam(image.header_cards);
  sky.wcs = wcs_of(image, sky.why_no_wcs);
  const double beam_pixels =
      sky.beam.beam && sky.wcs ? io::beam_area_in_pixels(*sky.beam.beam, *sky.wcs) : std::nan("");
  IslandOptions& islands = options.islands;
  if (!islands.cell) {
    // The width of a round beam of that area.
    const double width = std::sqrt(beam_pixels * 4 * std::log(2.0) / M_PI);
    const double side = beams_in_cell * width;
    const std::int64_t longest = std::max(image.nx, image.ny);
    const std::int64_t cell = side > 0
                                  ? std::clamp(static_cast<std::int64_t>(std::min(side, 1e9) + 0.5),
                                               smallest_cell, std::max(longest, smallest_cell))
                                  : usual_cell;
    islands.cell = MeshCell{cell, cell};
  }
  islands.mesh.cell_height = islands.cell->height;
  islands.mesh.cell_width = islands.cell->width;
  if (islands.min_beams) {
    if (!(beam_pixels > 0)) throw Error(name_of(image) + ": " + no_beam_in_pixels(sky));
    islands.find.min_pixels = std::max(
        islands.find.min_pixels,
        static_cast<std::int64_t>(std::ceil(std::min(*islands.min_beams * beam_pixels, 9e18))));
  }
  return sky;
}

Catalogue as_catalogue(const Islands& islands) {
  Catalogue sources;
  sources.reserve(islands.size());
  for (const Island& s : islands) {
    sources.push_back({s.id, s.x_cen, s.y_cen, s.flux_sum, s.flux_peak, s.x_peak, s.y_peak, s.n_pix,
                       s.x_min, s.x_max, s.y_min, s.y_max});
  }
  return sources;
}

io::IslandTable table_of(const io::FitsImage& image, const FindOptions& options,
                         const OnTheSky& sky, const Islands& islands) {
  io::IslandTableParams params;
  params.wcs = sky.wcs ? &*sky.wcs : nullptr;
  params.beam = sky.beam;
  params.unit = image.hdu.unit;
  params.flood_snr = options.islands.find.flood;
  auto table = io::island_table(islands, params);
  if (!sky.wcs) table.notes.push_back("no columns on the sky: " + sky.why_no_wcs);
  return table;
}

void write_catalogues(const FindOutputs& outputs, const io::IslandTable& table,
                      const Islands& islands, const io::Provenance& provenance) {
  for (const auto& [path, format] : outputs.catalogues()) {
    if (const auto* regions = std::get_if<io::RegionFormat>(&format)) {
      const auto shown = io::island_regions(islands, table.table);
      io::write_regions(path, *regions, shown.regions, shown.frame, provenance);
    } else {
      io::write_table(path, std::get<io::TableFormat>(format), table.table, provenance);
    }
  }
}

}  // namespace

void find_islands(FindOptions options) {
  FindOutputs outputs(options);
  const auto picture = find_picture_params();
  if (options.picture) io::require_font(picture);  // now, not after the work

  Session session(options.run);
  io::FitsImage image;
  IslandJob job{options, image, outputs, session, {}, {}};
  OnTheSky sky;
  session.on_image(options.input, options.picture ? HostPixels::needed : HostPixels::not_needed,
                   image, [&](const auto& space, const auto& pixels) {
                     sky = look_at_header(image, options);
                     job.run(space, pixels);
                   });

  session.steps().begin("write");
  const Islands& islands = job.result.islands;
  const auto table = table_of(image, options, sky, islands);
  const auto provenance = find_provenance(image, options);
  write_catalogues(outputs, table, islands, provenance);
  if (options.picture) {
    io::write_picture(outputs.picture, image, as_catalogue(islands), picture, provenance);
  }
  session.steps().end();

  // The results leave before the outputs appear: a full stdout is a failure, and a failure leaves
  // no output.
  session.end_progress();
  const IslandReport report{image, options.islands, job.result, job.mesh, sky.beam, table};
  if (options.json) {
    print_result(islands_json(report));
  } else if (!options.run.quiet || outputs.catalogues().empty()) {
    print_result(islands_text(report));
  }
  outputs.commit();
  session.close(options.json ? "" : wrote_note(outputs.targets()), pixels_of(image));
}

}  // namespace kastor::cli
