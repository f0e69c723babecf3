// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TABLE_NUMBERS_HPP
#define KASTOR_SRC_IO_TABLE_TABLE_NUMBERS_HPP

#include <optional>
#include <string_view>

namespace kastor::io::detail {

/// Without blanks, tabs and line ends at both ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// A field of a table as a number, whatever the locale is: NaN for the spellings of "there is none"
/// (see `read_table()`); nothing if it is no number.
[[nodiscard]] std::optional<double> number_of(std::string_view field);

/// Whether the field is a number that is there: no spelling of "none", not NaN.
[[nodiscard]] bool is_plain_number(std::string_view field);

}  // namespace kastor::io::detail

#endif
