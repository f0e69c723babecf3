// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_KEPT_CARDS_HPP
#define KASTOR_SRC_IO_FITS_KEPT_CARDS_HPP

#include <array>
#include <string>
#include <vector>

namespace kastor::io::detail {

/// What `kept_cards()` keeps, in its parts.
struct KeptCards {
  std::vector<std::string> wcs;          ///< the coordinates, in the forms of the standard
  std::vector<std::string> observation;  ///< the beam, and what describes the observation
  std::vector<std::string> notes;        ///< what was dropped though it may matter, and why
  std::string why_no_wcs;                ///< why no coordinates were kept of those that there are
};

[[nodiscard]] KeptCards split_kept_cards(const std::vector<std::string>& cards,
                                         const std::array<int, 2>& fits_axes);

}  // namespace kastor::io::detail

#endif
