// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_OUTPUTS_HPP
#define KASTOR_APPS_FIND_FIND_OUTPUTS_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/output_set.hpp>
#include <kastor/io/picture_params.hpp>
#include <kastor/io/provenance.hpp>
#include <optional>
#include <string>
#include <vector>

#include "find/catalogue_formats.hpp"
#include "find/find_options.hpp"

namespace kastor::cli {

/// A catalogue to be written under a temporary name.
struct StagedCatalogue {
  std::string path;
  CatalogueFormat format;
};

/// What `kastor find` writes, under temporary names until all is written.
class FindOutputs {
 public:
  /// Checks endings first, then takes the names. \throws UsageError, Error
  explicit FindOutputs(const FindOptions& options);

  [[nodiscard]] const std::vector<StagedCatalogue>& catalogues() const { return m_catalogues; }

  /// Temporary names; empty if not asked for.
  std::string labels, picture, background_map, rms_map, snr_map, residual;

  [[nodiscard]] const std::vector<std::string>& targets() const { return m_targets; }
  void commit() { m_set.commit(); }

 private:
  io::OutputSet m_set;
  std::vector<std::string> m_targets;
  std::vector<StagedCatalogue> m_catalogues;
};

/// The image's coordinates; none, with `why`, if it has none that can be used.
[[nodiscard]] std::optional<io::Wcs> wcs_of(const io::FitsImage& image, std::string& why);

/// Those of the lesson's sources.
void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::FitsImage& image,
                      const Catalogue& sources, const io::Provenance& provenance);

/// Of `kastor find` on this image.
[[nodiscard]] io::Provenance find_provenance(const io::FitsImage& image,
                                             const FindOptions& options);

[[nodiscard]] io::PictureParams find_picture_params();

}  // namespace kastor::cli

#endif
