// SPDX-License-Identifier: Apache-2.0
#include "find/catalogue_formats.hpp"

#include <algorithm>
#include <iterator>

#include "cli/run/errors.hpp"

namespace kastor::cli {

std::optional<CatalogueFormat> catalogue_format_of(const std::string& path) {
  if (const auto regions = io::region_format_of(path)) return *regions;
  if (const auto table = io::table_format_of(path)) return *table;
  return std::nullopt;
}

CatalogueFormat catalogue_format_named(const std::string& word) {
  // One suffix for each format; catalogue_format_of() accepts more.
  const char* const known[] = {"fits", "csv", "ecsv", "vot", "reg", "crtf"};
  if (std::find(std::begin(known), std::end(known), word) == std::end(known)) {
    throw UsageError("--format: found '" + word + "'; expected fits, csv, ecsv, vot, reg or crtf");
  }
  return catalogue_format_of("." + word).value();
}

}  // namespace kastor::cli
