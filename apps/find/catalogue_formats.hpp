// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_CATALOGUE_FORMATS_HPP
#define KASTOR_APPS_FIND_CATALOGUE_FORMATS_HPP

#include <kastor/io/regions_writer.hpp>
#include <kastor/io/sky_model.hpp>
#include <kastor/io/table_names.hpp>
#include <kastor/io/table_writer.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The catalogue formats of `kastor find` and `kastor measure`: tables, regions, and sky models of
/// components.
namespace kastor::cli {

using CatalogueFormat = std::variant<io::TableFormat, io::RegionFormat, io::SkyModelFormat>;

/// The format that the suffix of a file name selects; none if it names no format.
[[nodiscard]] std::optional<CatalogueFormat> catalogue_format_of(const std::string& path);

/// The format with this name in --format, which is also the suffix of its files.
/// \throws UsageError if there is none
[[nodiscard]] CatalogueFormat catalogue_format_named(const std::string& word);

/// The format of an output of something else than components. \param option  its name
/// \throws UsageError if the suffix names no format, or that of sky models
[[nodiscard]] CatalogueFormat table_or_regions_of(const std::string& option,
                                                  const std::string& path);

/// \param formats  of all outputs
/// \throws UsageError if there are names of columns, but no table to write with them
void check_names(io::TableNames names, const std::vector<CatalogueFormat>& formats);

}  // namespace kastor::cli

#endif
