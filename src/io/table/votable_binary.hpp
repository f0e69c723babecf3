// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_VOTABLE_BINARY_HPP
#define KASTOR_SRC_IO_TABLE_VOTABLE_BINARY_HPP

#include <kastor/io/table_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// A FIELD of a VOTable.
struct VotableField {
  TableColumn column;
  std::string datatype;
  std::string arraysize;  // empty: one value
  std::string null;       // VALUES null; empty if there is none
  std::string ref;        // ID of what it refers to; empty if there is none
};

/// Whether the field holds one number per row.
[[nodiscard]] bool is_number(const VotableField& field);

/// Appends rows of BINARY or BINARY2 (VOTable 1.4, sections 5.3 and 5.4) to `table`.
/// \param with_null_flags  whether the rows are BINARY2
/// \throws kastor::Error, without the name of the file
void append_binary_rows(std::string_view bytes, bool with_null_flags,
                        const std::vector<VotableField>& fields,
                        const std::vector<ColumnRequest>& requests, Table& table);

}  // namespace kastor::io::detail

#endif
