// SPDX-License-Identifier: Apache-2.0
#include "find/find_one.hpp"

#include <kastor/io/picture.hpp>
#include <utility>

#include "cli/report/streams.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/find_outputs.hpp"
#include "find/image_finder.hpp"

namespace kastor::cli {

void find_one(FindOptions options) {
  options.input.path = options.images.front();
  FindOutputs outputs(options);
  const auto picture = find_picture_params();
  if (options.picture) io::require_font(picture);  // fails before the work, not after it

  Session session(options.run);
  FoundImage found;
  found.options = std::move(options);
  const FindOptions& settled = found.options;
  session.on_image(settled.input, settled.picture ? HostPixels::needed : HostPixels::not_needed,
                   found.image, [&](const auto& space, const auto& view) {
                     using Exec = std::decay_t<decltype(space)>;
                     if (settled.unit) found.image.hdu.unit = *settled.unit;
                     if (settled.islands.preset != Preset::lesson)
                       found.sky = look_at_header(found.image, found.options);
                     found.note_blanked(session.blanked());
                     ImageFinder<Exec> finder(space, session.steps());
                     const auto pixels = as_const_image<Exec>(view);
                     finder(pixels, found);
                     finder.write_maps(pixels, found, outputs);
                   });

  session.steps().begin("write");
  const FoundCatalogue catalogue(found);
  catalogue.write(outputs.catalogues());
  if (settled.picture) {
    io::write_picture(outputs.picture, found.image, catalogue.sources(), picture,
                      find_provenance(found.image, settled));
  }
  session.steps().end();

  // The results are printed before the outputs appear, since a full stdout is a failure, and a
  // failure leaves no output.
  session.end_progress();
  if (settled.json) {
    print_result(catalogue.json());
  } else if (!settled.run.quiet || outputs.catalogues().empty()) {
    print_result(catalogue.text());
  }
  outputs.commit();
  session.close(settled.json ? "" : wrote_note(outputs.targets()), pixels_of(found.image));
}

}  // namespace kastor::cli
