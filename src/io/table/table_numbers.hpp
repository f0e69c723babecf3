// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_TABLE_TABLE_NUMBERS_HPP
#define KASTOR_SRC_IO_TABLE_TABLE_NUMBERS_HPP

#include <optional>
#include <string_view>

namespace kastor::io::detail {

/// The text without leading and trailing blanks, tabs and line ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// Whether the field is one of the spellings of a missing value (see `read_table()`).
[[nodiscard]] bool means_none(std::string_view field);

/// A field of a table as a number, independent of the locale. NaN for the spellings of a missing
/// value (see `read_table()`); none if the field is not a number.
[[nodiscard]] std::optional<double> number_of(std::string_view field);

/// Whether the field is an actual number: neither a missing value nor NaN.
[[nodiscard]] bool is_plain_number(std::string_view field);

}  // namespace kastor::io::detail

#endif
