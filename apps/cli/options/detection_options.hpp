// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_OPTIONS_DETECTION_OPTIONS_HPP
#define KASTOR_APPS_CLI_OPTIONS_DETECTION_OPTIONS_HPP

#include <optional>
#include <string>
#include <variant>

#include "cli/options/command_line.hpp"
#include "cli/options/given_options.hpp"
#include "cli/options/options.hpp"

namespace kastor::cli {

/// What an image is convolved with before islands are looked for.
struct NoFilter {};
struct SextractorFilter {};  ///< its default, 3 x 3 pixels
struct GaussianFilter {
  double fwhm;  ///< [pixel]
};
struct FilterFile {
  std::string path;
  std::int64_t max_unpacked = 0;  ///< as of the image; 0: the default
};
using FilterKernel = std::variant<NoFilter, SextractorFilter, GaussianFilter, FilterFile>;

/// As typed: none, sextractor, a number or a file.
[[nodiscard]] std::string name_of(const FilterKernel& kernel);

/// Where islands are looked for, if not in the pixels that are measured.
struct DetectionOptions {
  std::optional<GivenFile> image;
  FilterKernel kernel;
  std::optional<BlankValue> blank;  ///< --blank-value, which holds for this image too

  [[nodiscard]] bool has_filter() const { return !std::holds_alternative<NoFilter>(kernel); }
};

/// `--detect-image`, its part, and `--filter-kernel`.
class DetectionOptionsParser {
 public:
  void add_to(CommandLine& line);
  /// After parsing. \param otherwise  the kernel of the preset  \throws UsageError
  [[nodiscard]] DetectionOptions resolved(const FilterKernel& otherwise) const;

 private:
  std::optional<std::string> m_image;
  io::ReadOptions m_part;
  std::optional<FilterKernel> m_kernel;
};

/// The options as typed, each with a blank before it, for the provenance of an output.
/// \param filters  whether the preset has a filter, so that none is worth a word
[[nodiscard]] std::string detection_as_typed(const DetectionOptions& options, bool filters);

}  // namespace kastor::cli

#endif
