// SPDX-License-Identifier: Apache-2.0
#include "find/find_one.hpp"

#include <kastor/io/picture.hpp>
#include <utility>

#include "cli/report/streams.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/session.hpp"
#include "find/find_outputs.hpp"
#include "find/search_image.hpp"

namespace kastor::cli {

void draw(const std::string& path, const FoundImage& found, const FoundCatalogue& catalogue,
          const io::PictureParams& params) {
  const auto provenance = find_provenance(found.image, found.options);
  if (found.options.islands.components.files.empty()) {
    io::write_picture(path, found.image, catalogue.sources(), params, provenance);
  } else {
    io::write_picture_with_ellipses(path, found.image, catalogue.ellipses(), params, provenance);
  }
}

void search_one(Session& session, HostPixels host, FoundImage& found, const FindOutputs& outputs) {
  session.on_image(found.options.input, host, found.image,
                   [&](const auto& space, const auto& view) {
                     using Exec = std::decay_t<decltype(space)>;
                     ImageFinder<Exec> finder(space, session.steps());
                     const auto pixels = as_const_image<Exec>(view);
                     search_image(finder, pixels, session.blanked(), found);
                     finder.write_maps(pixels, found, outputs);
                   });
}

void write_results(Session& session, const FoundImage& found, FindOutputs& outputs,
                   const io::PictureParams& picture) {
  session.steps().begin("write");
  const FoundCatalogue catalogue(found);
  catalogue.write(outputs.catalogues());
  if (found.options.picture) draw(outputs.picture, found, catalogue, picture);
  session.steps().end();

  // The results are printed before the outputs appear, since a full stdout is a failure, and a
  // failure leaves no output.
  session.end_progress();
  if (found.options.json) {
    print_result(catalogue.json());
  } else if (!found.options.run.quiet || outputs.catalogues().empty()) {
    print_result(catalogue.text());
  }
  outputs.commit();
}

void find_one(FindOptions options) {
  options.input.path = options.images.front();
  options.reports_components = options.json || !options.run.quiet || options.outputs.empty();
  FindOutputs outputs(options);
  const auto picture = find_picture_params();
  if (options.picture) io::require_font(picture);  // fails before the work, not after it

  Session session(options.run);
  FoundImage found;
  found.options = std::move(options);
  const FindOptions& settled = found.options;
  search_one(session, settled.picture ? HostPixels::needed : HostPixels::not_needed, found,
             outputs);

  write_results(session, found, outputs, picture);
  session.close(settled.json ? "" : wrote_note(outputs.targets()), pixels_of(found.image));
}

}  // namespace kastor::cli
