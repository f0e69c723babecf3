// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FOUND_IMAGE_HPP
#define KASTOR_APPS_FIND_FOUND_IMAGE_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/catalogue.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "find/find_options.hpp"
#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

struct IslandsAndMesh {
  IslandResult result;
  std::optional<BackgroundSummary> mesh;  ///< none if the user gave both maps
  std::optional<NoiseCorrelation> noise;  ///< if it was to be measured
};

/// One image and what was found in it.
struct FoundImage {
  std::size_t index = 0;  ///< among the images of the run
  io::FitsImage image;    ///< has pixels only if they are asked for
  FindOptions options;    ///< completed from the header
  OnTheSky sky;           ///< not for the preset lesson
  std::variant<FindResult, IslandsAndMesh> found;
  std::vector<std::string> notes;  ///< what the user should know of the pixels, one sentence each
  double seconds = 0;              ///< of finding, without reading and writing

  /// Adds the note on the pixels that --blank-value made blank, if it was given.
  void note_blanked(std::int64_t pixels);
  [[nodiscard]] std::int64_t sources() const;
  /// The threshold, or the noise of the mesh; NaN if there is neither.
  [[nodiscard]] double level() const;
};

/// The catalogue of an image, for files, pictures and reports.
class FoundCatalogue {
 public:
  /// Makes the table. \throws Error if the image's unit or beam cannot be used
  explicit FoundCatalogue(const FoundImage& image);

  void write(const std::vector<StagedCatalogue>& targets) const;
  /// The catalogue as a table.
  [[nodiscard]] io::Table table() const;
  /// What the user should know of it, one sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// The sources that a picture shows.
  [[nodiscard]] Catalogue sources() const;
  /// The counts and the brightest sources.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;

 private:
  const FoundImage& m_image;
  NoiseUsed m_noise;                       // not for the preset lesson
  std::optional<io::IslandTable> m_table;  // the same
};

}  // namespace kastor::cli

#endif
