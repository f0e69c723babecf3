// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FOUND_IMAGE_HPP
#define KASTOR_APPS_FIND_FOUND_IMAGE_HPP

#include <cstddef>
#include <cstdint>
#include <kastor/background.hpp>
#include <kastor/catalogue.hpp>
#include <kastor/fit.hpp>
#include <kastor/io/component_table.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/island_table.hpp>
#include <kastor/io/picture.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/kron.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "find/detection_summary.hpp"
#include "find/find_options.hpp"
#include "find/find_outputs.hpp"
#include "find/noise_used.hpp"
#include "find/on_the_sky.hpp"

namespace kastor::cli {

struct IslandsAndMesh {
  IslandResult result;                ///< the parts of islands, if these were split
  std::vector<std::int64_t> parents;  ///< of each part, the id of its island; empty if not split
  std::int64_t unsplit = 0;           ///< how many islands above the background were split
  std::optional<FittedComponents>
      fitted;  ///< of the islands before they were split; none: not fitted
  std::optional<BackgroundSummary> mesh;  ///< none if the user gave both maps
  DetectionSummary detection;
  std::vector<KronFlux> kron;             ///< one for each island; empty but for sextractor
  std::vector<double> weights;            ///< one for each island; empty without --weight
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

  void write(const StagedCatalogues& targets) const;
  /// The catalogue as a table, of islands or sources.
  [[nodiscard]] io::Table table() const;
  /// That of components; null if none were fitted.
  [[nodiscard]] const io::Table* components() const {
    return m_components ? &m_components->table : nullptr;
  }
  /// What the user should know of it, one sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const;
  /// The sources that a picture shows.
  [[nodiscard]] Catalogue sources() const;
  /// Those of components, which it shows instead if these were asked for.
  [[nodiscard]] std::vector<io::PictureEllipse> ellipses() const;
  /// The counts and the brightest sources.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string json() const;

 private:
  void add_components(const IslandsAndMesh& islands);
  template <class Print>
  [[nodiscard]] std::string with_report(const Print& print) const;

  const FoundImage& m_image;
  NoiseUsed m_noise;                       // not for the preset lesson
  std::optional<io::IslandTable> m_table;  // the same
  std::optional<io::ComponentTable> m_components;
  std::string m_component_hash;
};

}  // namespace kastor::cli

#endif
