// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_ONE_HPP
#define KASTOR_APPS_FIND_FIND_ONE_HPP

#include <kastor/io/picture_params.hpp>
#include <string>

#include "cli/run/session.hpp"
#include "find/find_options.hpp"
#include "find/found_image.hpp"

namespace kastor::cli {

/// `kastor find` on one image, with all its outputs.
void find_one(FindOptions options);

/// Searches the image of `found.options`, and writes the maps of `outputs` under their temporary
/// names. `found.image` has pixels if they are needed.
void search_one(Session& session, HostPixels host, FoundImage& found, const FindOutputs& outputs);

/// Writes catalogues and picture, and prints the result; then the outputs appear.
/// \param picture  how it is drawn, if one is asked for
void write_results(Session& session, const FoundImage& found, FindOutputs& outputs,
                   const io::PictureParams& picture);

/// Draws the components if the user asked for them, else the islands or sources. The image has its
/// pixels on the host.
void draw(const std::string& path, const FoundImage& found, const FoundCatalogue& catalogue,
          const io::PictureParams& params);

}  // namespace kastor::cli

#endif
