// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_NAMED_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_NAMED_COLUMNS_HPP

#include <cstdint>
#include <kastor/io/table_names.hpp>
#include <limits>
#include <span>
#include <string_view>

namespace kastor::io::detail {

/// How a column of another program is made from columns of Kastor, a and b.
enum class Recipe {
  copy,            // a, times scale, plus offset
  half_turn,       // an angle, brought to above -90 and up to 90 degrees
  square,          // a squared
  quadratic_mean,  // sqrt((a^2 + b^2) / 2), times scale
  ratio,           // a / b
  flattening,      // 1 - b / a
  extent,          // b - a + 1
  hours,           // text: hh:mm:ss.ss
  degrees,         // text: +dd:mm:ss.ss
  rank,            // number among the rows of the same a, from 0
  flags,           // a, with its bits translated; and the bit `shared` if rows have the same b
  name_and_id,     // text: a, '_' and b
  card,            // the card a of the table, in all rows
  zero             // 0; a only has to exist
};

/// A bit of Kastor's `flags`, and the one that means the same to another program.
struct FlagBit {
  std::uint32_t ours = 0;
  std::int64_t theirs = 0;
};

/// Tables that have a column.
enum class InTables { all, islands, components };

/// A column of another program. Columns of Kastor may be alternatives, as in "rms_image|rms": the
/// first that a table has is used, and if it has none, the column is left out.
struct NamedColumn {
  std::string_view name;
  std::string_view from;  // a
  Recipe recipe = Recipe::copy;
  std::string_view unit = "=";  // "=": that of the column of Kastor
  double scale = 1;
  std::string_view other = "";                                // b
  double offset = 0;                                          // of copy, an integer
  double unknown = std::numeric_limits<double>::quiet_NaN();  // in place of NaN
  InTables in = InTables::all;
  std::span<const FlagBit> bits = {};
  std::int64_t shared = 0;
  std::string_view text = "";  // its description; empty: that of a
};

/// The columns in their order. Of those of one name the first is used that can be made.
[[nodiscard]] std::span<const NamedColumn> named_columns(TableNames names);

}  // namespace kastor::io::detail

#endif
