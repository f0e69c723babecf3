// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_CARD_VALUES_HPP
#define KASTOR_SRC_IO_FITS_CARD_VALUES_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The number that `text` begins with, blanks before it skipped: as FITS writes it, with D for E
/// and a leading '+'. None if there is none.
[[nodiscard]] std::optional<double> leading_number(std::string_view text);

/// The same if the number is all of `text`, without blanks.
[[nodiscard]] std::optional<double> whole_number(std::string_view text);

/// The text behind "KEYWORD =" of the first such card, its comment included.
[[nodiscard]] std::optional<std::string> card_text(const std::vector<std::string>& cards,
                                                   std::string_view keyword);

/// The HISTORY of a header, one string a logical line: a card that begins with '>' goes on with the
/// line before (CASA).
[[nodiscard]] std::vector<std::string> history_lines(const std::vector<std::string>& cards);

}  // namespace kastor::io::detail

#endif
