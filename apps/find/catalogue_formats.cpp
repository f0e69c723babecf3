// SPDX-License-Identifier: Apache-2.0
#include "find/catalogue_formats.hpp"

#include <algorithm>
#include <iterator>

#include "cli/run/errors.hpp"

namespace kastor::cli {

std::optional<CatalogueFormat> catalogue_format_of(const std::string& path) {
  if (const auto regions = io::region_format_of(path)) return *regions;
  if (const auto table = io::table_format_of(path)) return *table;
  if (const auto model = io::sky_model_format_of(path)) return *model;
  return std::nullopt;
}

CatalogueFormat catalogue_format_named(const std::string& word) {
  // One suffix for each format; catalogue_format_of() accepts more.
  const char* const known[] = {"fits", "csv", "ecsv", "vot", "cat", "reg", "crtf", "skymodel"};
  if (std::find(std::begin(known), std::end(known), word) == std::end(known)) {
    throw UsageError("--format: found '" + word +
                     "'; expected fits, csv, ecsv, vot, cat, reg, crtf or skymodel");
  }
  return catalogue_format_of("." + word).value();
}

CatalogueFormat table_or_regions_of(const std::string& option, const std::string& path) {
  const auto format = catalogue_format_of(path);
  if (!format) {
    throw UsageError(option + ": found '" + path +
                     "', whose suffix names no format; expected .csv, .ecsv, .fit, .fits, .vot, "
                     ".votable, .xml, .cat, .reg or .crtf");
  }
  if (std::holds_alternative<io::SkyModelFormat>(*format)) {
    throw UsageError(option + ": found '" + path +
                     "', a sky model, which holds components; expected it with --components of "
                     "'kastor find'");
  }
  return *format;
}

void check_names(io::TableNames names, const std::vector<CatalogueFormat>& formats) {
  const bool has_table = std::any_of(formats.begin(), formats.end(), [](const auto& format) {
    return std::holds_alternative<io::TableFormat>(format);
  });
  if (names == io::TableNames::kastor || has_table) return;
  throw UsageError(std::string("--names: found '") + io::name_of(names) +
                   "' without a table to write; expected a table among the outputs, as in -o "
                   "sources.fits");
}

}  // namespace kastor::cli
