// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_VALID_CARDS_HPP
#define KASTOR_SRC_IO_FITS_VALID_CARDS_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The card with a value as the FITS standard 4.0 has it (section 4.2): unchanged if it is valid;
/// with the exponent in capitals, the string closed, the blank after '=' where one of these is
/// amiss. None if it has no value, or it is no string, number or logical. Cards without a value
/// by nature (HISTORY, COMMENT, CONTINUE) are left alone.
[[nodiscard]] std::optional<std::string> repaired_card(std::string_view card);

/// Cards of an input in a form that a valid header may have: each as `repaired_card()` gives it;
/// of several with one keyword the one that Kastor uses; EQUINOX instead of EPOCH; beside PC
/// neither CD nor CROTA. A HISTORY card names what was left out because it is not valid.
[[nodiscard]] std::vector<std::string> valid_cards(const std::vector<std::string>& cards);

}  // namespace kastor::io::detail

#endif
