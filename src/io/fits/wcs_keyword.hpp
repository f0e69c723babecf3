// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_WCS_KEYWORD_HPP
#define KASTOR_SRC_IO_FITS_WCS_KEYWORD_HPP

#include <optional>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// A keyword of coordinates, split: "CD1_2A" has the stem CD, the axes 1 and 2, and the alternative
/// description A.
struct WcsKeyword {
  std::string stem;
  int first = 0;
  std::optional<int> second;
  std::string alternative;
  /// PC001002, CD001002: the matrix before the standard of 2002.
  bool old_matrix = false;

  /// The keyword in the form of the standard.
  [[nodiscard]] std::string text() const;
};

/// Splits STEMi and STEMi_j, with or without a letter at the end, and the old forms PCiiijjj and
/// CDiiijjj.
[[nodiscard]] std::optional<WcsKeyword> split_keyword(std::string_view keyword);

/// What a keyword says of coordinates.
enum class WcsRole {
  none,
  axis,        ///< CTYPEi, CRVALi, ...
  matrix,      ///< PCi_j, CDi_j
  parameter,   ///< PVi_m, PSi_m
  whole,       ///< of the coordinates as a whole: LONPOLE, EQUINOX, ...
  projp,       ///< PROJPm, an old form of PVi_m of the latitude axis
  distortion,  ///< of pixels: SIP, and those of IRAF, the Digitized Sky Survey and paper IV's
               ///< drafts
};
[[nodiscard]] WcsRole role_of(std::string_view keyword, const std::optional<WcsKeyword>& parts);

/// A_ORDER, B_1_2, AP_DMAX, ...
[[nodiscard]] bool is_sip(std::string_view keyword);

/// The keyword of a card, without trailing blanks.
[[nodiscard]] std::string keyword_of(std::string_view card);

/// The value in a card as it stands there, without its comment: a string with its quotes. None if
/// the card has no value indicator; empty if the value is undefined.
[[nodiscard]] std::optional<std::string> value_text(std::string_view card);

/// The real number in a card (D or d counts as E); none if the value is not a finite number.
[[nodiscard]] std::optional<double> real_value(std::string_view card);

/// The text between the quotes, without trailing blanks; empty if the value is not a string.
[[nodiscard]] std::string string_value(std::string_view card);

/// The card with its exponent written as E if its value is a number with a D or d (FITS standard
/// 4.0, section 4.2.4); else unchanged.
[[nodiscard]] std::string with_exponent_e(std::string card);

/// The card under another keyword of at most 8 characters.
[[nodiscard]] std::string renamed(std::string_view card, const std::string& keyword);

}  // namespace kastor::io::detail

#endif
