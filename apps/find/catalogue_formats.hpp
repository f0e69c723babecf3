// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_CATALOGUE_FORMATS_HPP
#define KASTOR_APPS_FIND_CATALOGUE_FORMATS_HPP

#include <kastor/io/regions_writer.hpp>
#include <kastor/io/table_writer.hpp>
#include <optional>
#include <string>
#include <variant>

/// The catalogue formats of `kastor find`: tables and regions.
namespace kastor::cli {

using CatalogueFormat = std::variant<io::TableFormat, io::RegionFormat>;

/// The format that the suffix of a file name selects; none if it names no format.
[[nodiscard]] std::optional<CatalogueFormat> catalogue_format_of(const std::string& path);

/// The format with this name in --format, which is also the suffix of its files.
/// \throws UsageError if there is none
[[nodiscard]] CatalogueFormat catalogue_format_named(const std::string& word);

}  // namespace kastor::cli

#endif
