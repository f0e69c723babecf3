// SPDX-License-Identifier: Apache-2.0
#include "io/sky/wcs_check.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <kastor/error.hpp>
#include <string_view>

#include "io/fits/wcs_header.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

/// Which of the matrices the header has. The CD matrix includes the scale.
struct Matrices {
  bool pc;
  bool cd;
};

/// Whether the card decides positions. CDELTi and CROTAi do not beside a CD matrix, nor CROTAi
/// beside PCi_j (FITS standard 4.0, section 8.1).
bool is_needed(const std::string& keyword, const Matrices& has) {
  if (keyword == "LONPOLE" || keyword == "LATPOLE" || is_sip(keyword)) return true;
  const auto parts = split_keyword(keyword);
  if (!parts || !parts->alternative.empty()) return false;
  const std::string& stem = parts->stem;
  if (stem == "CDELT") return !has.cd || has.pc;
  if (stem == "CROTA") return !has.cd && !has.pc;
  return stem == "CRVAL" || stem == "CRPIX" || stem == "PC" || stem == "CD" ||
         (stem == "PV" && parts->second);
}

[[noreturn]] void refuse_card(const std::string& card) {
  throw Error("kastor::io::Wcs: " + found_in(card) + "; expected a number");
}

/// The year decides the frame unless another card names one without a year.
void check_year(const WcsHeader& header, std::vector<std::string>& notes) {
  const std::string* card = header.find("EQUINOX");
  if (card == nullptr) card = header.find("EPOCH");
  if (card == nullptr || real_value(*card)) return;
  const std::string frame = header.text(header.has("RADESYS") ? "RADESYS" : "RADECSYS");
  const auto sky = header.celestial("");
  const std::string type = sky ? header.text(fmt::format("CTYPE{}", sky->longitude)) : "";
  const bool dated = type.starts_with("RA") || type.starts_with("ELON");
  if (dated && frame != "ICRS" && frame != "GAPPT") refuse_card(*card);
  notes.push_back(found_in(*card) + ", not a number; it is not needed for " +
                  (dated ? frame : "these coordinates"));
}

/// wcslib gives an axis without CDi_j the scale 1, where the standard says 0, and inverts matrices
/// that are singular but for the rounding.
void check_matrix(const WcsHeader& header, std::string_view stem) {
  std::array<double, 4> element{};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool one = stem == "PC" && (i == 0 || i == 3);  // what is missing
    const std::string keyword = fmt::format("{}{}_{}", stem, i / 2 + 1, i % 2 + 1);
    element[i] = header.real(keyword).value_or(one ? 1.0 : 0.0);
  }
  const double first = element[0] * element[3];
  const double second = element[1] * element[2];
  if (std::abs(first - second) > 1e-14 * (std::abs(first) + std::abs(second))) return;
  throw Error(
      fmt::format("kastor::io::Wcs: the matrix {}i_j is singular ({}, {}, {}, {}); expected one "
                  "that can be inverted",
                  stem, element[0], element[1], element[2], element[3]));
}

void note_defaults(const WcsHeader& header, const Matrices& has, std::vector<std::string>& notes) {
  struct Default {
    std::string_view stem;
    int value;
  };
  constexpr std::array<Default, 3> defaults = {{{"CRVAL", 0}, {"CRPIX", 0}, {"CDELT", 1}}};
  for (const auto& [stem, value] : defaults) {
    if (stem == "CDELT" && has.cd && !has.pc) continue;
    std::string missing;
    for (const int axis : {1, 2}) {
      const std::string keyword = fmt::format("{}{}", stem, axis);
      if (!header.has(keyword)) missing += (missing.empty() ? "" : " and ") + keyword;
    }
    if (missing.empty()) continue;
    notes.push_back(fmt::format("the header has no {}; the default of the FITS standard is {}",
                                missing, value));
  }
}

void note_rotation(const WcsHeader& header, const Matrices& has, std::vector<std::string>& notes) {
  const auto sky = header.celestial("");
  if (!sky || has.cd || has.pc) return;
  const auto of_axis = [&](int axis) { return header.real(fmt::format("CROTA{}", axis)); };
  const auto given = of_axis(sky->longitude);
  if (given && *given != 0 && given != of_axis(sky->latitude))
    notes.push_back(fmt::format(
        "CROTA{} is {}, on the axis of longitude: not used; the rotation is that of CROTA{}",
        sky->longitude, *given, sky->latitude));
}

}  // namespace

void check_wcs_cards(const std::vector<std::string>& wcs, std::vector<std::string>& notes) {
  const WcsHeader header{wcs, {}};
  const Matrices has{header.has_stem("PC", ""), header.has_stem("CD", "")};
  for (const std::string& card : header.cards)
    if (is_needed(keyword_of(card), has) && !real_value(card)) refuse_card(card);
  if (has.pc) {
    check_matrix(header, "PC");
  } else if (has.cd) {
    check_matrix(header, "CD");
  }
  check_year(header, notes);
  if (has.pc && has.cd)
    notes.emplace_back(
        "the header has both PCi_j and CDi_j, which the FITS standard forbids; PCi_j is used");
  note_defaults(header, has, notes);
  note_rotation(header, has, notes);
}

}  // namespace kastor::io::detail
