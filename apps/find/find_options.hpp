// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_FIND_OPTIONS_HPP
#define KASTOR_APPS_FIND_FIND_OPTIONS_HPP

#include <array>
#include <cstdint>
#include <kastor/io/table_names.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/island_options.hpp"
#include "cli/options/memory_options.hpp"
#include "cli/options/options.hpp"

namespace kastor::cli {

/// All options of `kastor find`.
struct FindOptions {
  std::vector<std::string> images;  ///< as typed: files, and @FILE for the lines of a file
  InputOptions input;               ///< of the current image
  std::optional<std::string> unit;  ///< of the pixels, in place of BUNIT
  MemoryOptions memory;
  FindParams find;        ///< of the preset lesson
  IslandOptions islands;  ///< of the other presets
  std::vector<std::string> outputs;
  std::vector<std::string> formats;               ///< of the catalogues in a folder
  io::TableNames names = io::TableNames::kastor;  ///< of the columns of tables
  bool resume = false;
  std::optional<std::string> labels;
  std::optional<std::string> picture;
  bool overwrite = false;
  RunOptions run;
  bool json = false;
  bool reports_components = false;  ///< the report has room for them

  /// Whether Gaussians are fitted to the islands.
  [[nodiscard]] bool fits_components() const {
    const ComponentOptions& components = islands.components;
    return components.are_asked_for() || (components.reports && reports_components);
  }
};

/// False if the user asked for help or for the configuration. \throws UsageError
[[nodiscard]] bool parse_find(Arguments arguments, FindOptions& options);

/// A FITS image that can be written with the catalogue of one image.
struct FitsMap {
  const char* option;
  const std::optional<std::string>& path;  ///< as typed; none: not asked for
};
/// All such images; they refer to `options`.
[[nodiscard]] inline std::array<FitsMap, 7> fits_maps_of(const FindOptions& options) {
  return {{{"--labels", options.labels},
           {"--background-map", options.islands.background_map},
           {"--rms-map", options.islands.rms_map},
           {"--snr-map", options.islands.snr_map},
           {"--residual", options.islands.residual},
           {"--model", options.islands.components.model},
           {"--fit-residual", options.islands.components.residual}}};
}

/// The files that a run reads beside its images, as typed: masks, maps, a detection image, a
/// kernel.
[[nodiscard]] inline std::vector<std::string> given_files_of(const FindOptions& options) {
  std::vector<std::string> files;
  const auto add = [&](const GivenFile& given) {
    if (given.path) files.push_back(*given.path);
  };
  for (const auto* given : {&options.islands.background, &options.islands.rms}) {
    if (*given && std::holds_alternative<GivenFile>(**given)) add(std::get<GivenFile>(**given));
  }
  if (options.islands.mask) add(*options.islands.mask);
  if (options.islands.photometry.weight) add(*options.islands.photometry.weight);
  if (options.islands.detection.image) add(*options.islands.detection.image);
  if (const auto* kernel = std::get_if<FilterFile>(&options.islands.detection.kernel))
    files.push_back(kernel->path);
  return files;
}

/// What the images of the options may unpack to, as the image itself.
void limit_given(IslandOptions& options, std::int64_t max_unpacked);
/// After parsing: sets `options.islands`. \throws UsageError
void settle_islands(const CommandLine& line, const IslandOptionsParser& islands,
                    FindOptions& options);

}  // namespace kastor::cli

#endif
