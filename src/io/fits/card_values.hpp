// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_CARD_VALUES_HPP
#define KASTOR_SRC_IO_FITS_CARD_VALUES_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The number at the beginning of `text`, after any blanks. FITS notation is allowed: D instead of
/// E, and a leading '+'. None if there is none.
[[nodiscard]] std::optional<double> leading_number(std::string_view text);

/// The same if the number is the whole text, without blanks.
[[nodiscard]] std::optional<double> whole_number(std::string_view text);

/// The text after "KEYWORD =" in the first such card, including its comment.
[[nodiscard]] std::optional<std::string> card_text(const std::vector<std::string>& cards,
                                                   std::string_view keyword);

/// The HISTORY of a header, one string per logical line: a card that begins with '>' continues the
/// previous line (CASA).
[[nodiscard]] std::vector<std::string> history_lines(const std::vector<std::string>& cards);

}  // namespace kastor::io::detail

#endif
