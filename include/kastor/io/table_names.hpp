// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_TABLE_NAMES_HPP
#define KASTOR_IO_TABLE_NAMES_HPP

#include <kastor/io/table.hpp>
#include <optional>
#include <string_view>

namespace kastor::io {

/// Whose names, units and conventions the columns of a table have.
enum class TableNames { kastor, pybdsf, aegean, sextractor, vizier };

[[nodiscard]] const char* name_of(TableNames names);
/// None if there is none of this name.
[[nodiscard]] std::optional<TableNames> table_names_called(std::string_view name);

/// A table of islands, components or forced photometry with the columns of another program, for
/// what reads the tables of that program. docs/catalogue.md lists them. Rows and their order stay;
/// so do metadata, frame, and the columns of apertures and `flux_limit`, which keep their names.
///
/// Columns of that program that Kastor does not measure are left out, and so are those of Kastor
/// that it does not have. Names with J2000 in them have B1950 in a table of that frame.
/// \param table  of `island_table()`, `component_table()` or `forced_table()`
/// \throws kastor::Error if the program's tables need positions on the sky, and there are none, or
///         if its names cannot tell the frame of the positions
[[nodiscard]] Table table_with_names(const Table& table, TableNames names);

}  // namespace kastor::io

#endif
