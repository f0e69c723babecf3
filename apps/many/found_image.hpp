// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MANY_FOUND_IMAGE_HPP
#define KASTOR_APPS_MANY_FOUND_IMAGE_HPP

#include <cstddef>
#include <kastor/background.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "cli/find_options.hpp"
#include "cli/find_outputs.hpp"
#include "cli/on_the_sky.hpp"
#include "many/outcome_log.hpp"

namespace kastor::cli {

struct IslandsAndMesh {
  IslandResult result;
  std::optional<BackgroundSummary> mesh;  ///< none if the user gave both maps
};

/// What was found in one image, to be written.
struct FoundImage {
  std::size_t index = 0;
  io::FitsImage image;  ///< without pixels
  FindOptions options;
  OnTheSky sky;
  std::variant<FindResult, IslandsAndMesh> found;
  double seconds = 0;
};

/// Writes the catalogues of one image, all or none, and says what became of it. The JSON is that of
/// `kastor find` on this image alone. \throws kastor::Error
[[nodiscard]] Outcome write_found(const FoundImage& image,
                                  const std::vector<StagedCatalogue>& targets);

}  // namespace kastor::cli

#endif
