// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TABLE_READERS_HPP
#define KASTOR_SRC_IO_TABLE_TABLE_READERS_HPP

#include <kastor/io/table_reader.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The formats that `read_table()` supports, each in its own file. The path is that of a regular
/// file.
namespace kastor::io::detail {

[[nodiscard]] std::optional<TableFromFile> read_fits_table(const std::string& path,
                                                           const ColumnChoice& choose);
[[nodiscard]] std::optional<TableFromFile> read_votable(const std::string& path,
                                                        const ColumnChoice& choose);
/// Also reads ECSV.
[[nodiscard]] std::optional<TableFromFile> read_text_table(const std::string& path,
                                                           const ColumnChoice& choose);

/// The content of an ECSV header.
struct EcsvHeader {
  char delimiter = ' ';
  std::vector<TableColumn> columns;
  /// Frames, by the name of astropy's column whose parts are columns such as NAME.ra; the frame of
  /// the whole table has no name.
  std::vector<std::pair<std::string, std::optional<SkyFrame>>> frames = {};
};
/// \param lines  the comment lines of the file, without "# "; the first is "%ECSV 1.0"
[[nodiscard]] EcsvHeader parse_ecsv_header(const std::vector<std::string>& lines);

/// The frame of a name as in RADESYS, in the attribute `system` of COOSYS, or in astropy; none for
/// others.
[[nodiscard]] std::optional<SkyFrame> frame_called(std::string_view name);

/// A table with the requested columns, which have the requested types and no values.
[[nodiscard]] Table empty_table(const std::vector<TableColumn>& columns,
                                const std::vector<ColumnRequest>& requests);

}  // namespace kastor::io::detail

#endif
