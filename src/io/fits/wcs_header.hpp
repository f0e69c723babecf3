// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_FITS_WCS_HEADER_HPP
#define KASTOR_SRC_IO_FITS_WCS_HEADER_HPP

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kastor::io::detail {

/// The celestial axes of a description of the coordinates: CTYPEi in the "4-3" form.
struct CelestialAxes {
  int longitude = 0;  ///< from 1
  int latitude = 0;
  std::string code;  ///< of the projection: TAN
  bool sip = false;  ///< the types end in -SIP
};

/// The cards of the coordinates of two axes, and what is to be said of them.
struct WcsHeader {
  std::vector<std::string> cards;
  std::vector<std::string> notes;

  /// The card of the keyword, of several the last, as wcslib has it; null if there is none.
  [[nodiscard]] const std::string* find(std::string_view keyword) const;
  [[nodiscard]] bool has(std::string_view keyword) const { return find(keyword) != nullptr; }
  /// The number in that card; none without a card or without a number.
  [[nodiscard]] std::optional<double> real(std::string_view keyword) const;
  /// The string in that card; empty without one.
  [[nodiscard]] std::string text(std::string_view keyword) const;
  /// Whether there is a card of this stem and alternative letter for axis 1 or 2: "CD", "CDELT".
  [[nodiscard]] bool has_stem(std::string_view stem, std::string_view alternative) const;

  /// Replaces the card, or adds one.
  void set(const std::string& keyword, double value);
  /// Erases the cards with these keywords; returns the keywords.
  std::vector<std::string> erase(const std::function<bool(const std::string& keyword)>& chosen);

  /// The alternative letters of all descriptions, "" first.
  [[nodiscard]] std::vector<std::string> alternatives() const;
  [[nodiscard]] std::optional<CelestialAxes> celestial(const std::string& alternative) const;
};

/// "A, B, C" or "A, B, C, ... (12 cards)".
[[nodiscard]] std::string list_of(const std::vector<std::string>& keywords);

/// "CRVAL1 is '40.0 deg'", "CRVAL1 has no value": for messages.
[[nodiscard]] std::string found_in(std::string_view card);

/// A card with a real number.
[[nodiscard]] std::string real_card(const std::string& keyword, double value,
                                    std::string_view comment = "");

}  // namespace kastor::io::detail

#endif
