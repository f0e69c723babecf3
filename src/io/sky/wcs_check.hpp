// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_WCS_CHECK_HPP
#define KASTOR_SRC_IO_SKY_WCS_CHECK_HPP

#include <string>
#include <vector>

namespace kastor::io::detail {

/// Looks at the cards that decide positions in the primary description: wcslib skips a card that it
/// cannot read, and goes on with the default of a missing one. Adds a note for each default.
/// \param wcs  the coordinates from `split_kept_cards()`
/// \throws kastor::Error naming a card that is not a number, and its value
void check_wcs_cards(const std::vector<std::string>& wcs, std::vector<std::string>& notes);

}  // namespace kastor::io::detail

#endif
