// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_OUTPUTS_HPP
#define KASTOR_APPS_FIND_FIND_OUTPUTS_HPP

#include <functional>
#include <kastor/catalogue.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/island_regions.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/picture_params.hpp>
#include <kastor/io/provenance.hpp>
#include <kastor/io/table_names.hpp>
#include <optional>
#include <string>
#include <vector>

#include "find/catalogue_formats.hpp"
#include "find/find_options.hpp"

namespace kastor::cli {

/// A catalogue that is written under a temporary name.
struct StagedCatalogue {
  std::string path;
  CatalogueFormat format;
};

/// Those of islands (or of the sources of the lesson) and those of components.
struct StagedCatalogues {
  std::vector<StagedCatalogue> islands, components;

  [[nodiscard]] bool empty() const { return islands.empty() && components.empty(); }
};

/// The outputs of `kastor find`, which have temporary names until all are written.
class FindOutputs {
 public:
  /// First checks the suffixes, then reserves the names, unless another process writes
  /// (`speaks()`). \throws UsageError, Error
  explicit FindOutputs(const FindOptions& options);

  [[nodiscard]] const StagedCatalogues& catalogues() const { return m_catalogues; }

  /// The temporary names; empty if not asked for.
  std::string labels, picture, background_map, rms_map, snr_map, residual, model, fit_residual;

  [[nodiscard]] const std::vector<std::string>& targets() const { return m_targets; }
  void commit() { m_set.commit(); }

 private:
  io::OutputSet m_set;
  std::vector<std::string> m_targets;
  StagedCatalogues m_catalogues;
};

/// The world coordinates of the image; none, with the reason in `why`, if it has no usable ones.
[[nodiscard]] std::optional<io::Wcs> wcs_of(const io::FitsImage& image, std::string& why);

/// Writes the catalogues of the sources of the preset lesson.
void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::FitsImage& image,
                      const Catalogue& sources, const io::Provenance& provenance);

/// Gives the regions of the rows of a table.
using RegionsOfRows = std::function<io::ShownRegions()>;

/// Writes a table of islands, components or forced photometry, or their regions or sky model.
/// \param names  of the columns of tables
void write_table_of_rows(const std::vector<StagedCatalogue>& catalogues, const io::FitsImage& image,
                         const io::Table& table, io::TableNames names, const RegionsOfRows& regions,
                         const io::Provenance& provenance);

/// The provenance of `kastor find` on this image.
[[nodiscard]] io::Provenance find_provenance(const io::FitsImage& image,
                                             const FindOptions& options);

[[nodiscard]] io::PictureParams find_picture_params();

}  // namespace kastor::cli

#endif
