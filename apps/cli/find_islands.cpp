// SPDX-License-Identifier: Apache-2.0
#include "cli/find_islands.hpp"

#include <kastor/catalogue.hpp>
#include <kastor/io/picture.hpp>
#include <string>
#include <utility>

#include "cli/find_outputs.hpp"
#include "cli/island_catalogues.hpp"
#include "cli/island_job.hpp"
#include "cli/island_report.hpp"
#include "cli/on_the_sky.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"
#include "cli/streams.hpp"

namespace kastor::cli {
namespace {

Catalogue as_catalogue(const Islands& islands) {
  Catalogue sources;
  sources.reserve(islands.size());
  for (const Island& s : islands) {
    sources.push_back({s.id, s.x_cen, s.y_cen, s.flux_sum, s.flux_peak, s.x_peak, s.y_peak, s.n_pix,
                       s.x_min, s.x_max, s.y_min, s.y_max});
  }
  return sources;
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
  const auto table = island_table_of(image, options, sky, islands, job.mesh);
  const auto provenance = find_provenance(image, options);
  write_catalogues(outputs.catalogues(), table, islands, provenance);
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
