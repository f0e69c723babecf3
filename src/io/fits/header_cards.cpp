// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <kastor/io/fits_writer.hpp>
#include <optional>
#include <string_view>

#include "io/fits/header_text.hpp"
#include "io/sky/raw_beam.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

/// A keyword of coordinates, split: "CD1_2A" has the stem CD, the axes 1 and 2, and the alternative
/// description A.
struct WcsKeyword {
  std::string stem;
  int first = 0;
  std::optional<int> second;
  std::string alternative;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int take_number(std::string_view& text) {
  int value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Splits STEMi and STEMi_j, with or without a letter at the end.
std::optional<WcsKeyword> split_keyword(std::string_view keyword) {
  const auto digit = std::find_if(keyword.begin(), keyword.end(), is_digit);
  if (digit == keyword.end()) return std::nullopt;
  WcsKeyword result;
  result.stem.assign(keyword.begin(), digit);
  std::string_view rest = keyword.substr(result.stem.size());
  result.first = take_number(rest);
  if (rest.size() > 1 && rest[0] == '_' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    result.second = take_number(rest);
  }
  if (rest.size() > 1 || (rest.size() == 1 && (rest[0] < 'A' || rest[0] > 'Z')))
    return std::nullopt;
  result.alternative = rest;
  return result;
}

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// FITS standard 4.0, tables 22 and 25.
constexpr std::array<std::string_view, 10> k_axis_stems = {
    "CTYPE", "CRVAL", "CRPIX", "CDELT", "CROTA", "CUNIT", "CNAME", "CRDER", "CSYER", "CZPHS"};
constexpr std::array<std::string_view, 2> k_matrix_stems = {"PC", "CD"};
constexpr std::array<std::string_view, 2> k_parameter_stems = {"PV", "PS"};
constexpr std::array<std::string_view, 4> k_sip_stems = {"A_", "B_", "AP_", "BP_"};
constexpr std::array<std::string_view, 4> k_sip_plain = {"A_DMAX", "B_DMAX", "A_ORDER", "B_ORDER"};
constexpr std::array<std::string_view, 2> k_sip_inverse = {"AP_ORDER", "BP_ORDER"};
// Cards that describe the coordinates as a whole; they are kept or dropped together with them.
constexpr std::array<std::string_view, 11> k_frame = {"LONPOLE", "LATPOLE",  "RADESYS", "RADECSYS",
                                                      "EQUINOX", "EPOCH",    "WCSNAME", "SPECSYS",
                                                      "RESTFRQ", "RESTFREQ", "RESTWAV"};
// Cards that are valid for every image of the same sky and observation.
constexpr std::array<std::string_view, 21> k_observation = {
    "OBJECT",   "TELESCOP", "INSTRUME", "OBSERVER", "FILTER",  "EXPTIME", "DATE-OBS",
    "DATE-BEG", "DATE-AVG", "DATE-END", "MJD-OBS",  "MJD-BEG", "MJD-AVG", "MJD-END",
    "MJDREF",   "TIMESYS",  "TIME-OBS", "BMAJ",     "BMIN",    "BPA",     "VELREF"};

std::string keyword_of(std::string_view card) {
  return detail::trimmed(card.substr(0, std::min<std::size_t>(8, card.size())));
}

bool is_sip(const std::string& keyword) {
  if (is_one_of(keyword, k_sip_plain) || is_one_of(keyword, k_sip_inverse)) return true;
  const auto parts = split_keyword(keyword);
  return parts && parts->second && is_one_of(parts->stem, k_sip_stems);
}

bool is_frame(std::string_view keyword) {
  if (is_one_of(keyword, k_frame)) return true;
  // RADESYSA: the same for an alternative description.
  return keyword.size() > 1 && keyword.back() >= 'A' && keyword.back() <= 'Z' &&
         is_one_of(keyword.substr(0, keyword.size() - 1), k_frame);
}

/// The number in a card. 1 if it cannot be parsed, so that it counts as present.
double value_of(std::string_view card) {
  std::string_view text = card.size() > 10 ? card.substr(10) : std::string_view{};
  const auto first = text.find_first_not_of(" +");
  if (first == std::string_view::npos) return 1.0;
  std::string number(text.substr(first, text.find_first_of(" /", first) - first));
  std::replace(number.begin(), number.end(), 'D', 'E');
  double value = 1.0;
  (void)std::from_chars(number.data(), number.data() + number.size(), value);
  return value;
}

/// Whether the axis of the card is one of a celestial pair, which is meaningless without the other.
bool is_celestial(std::string_view card) {
  const auto quote = card.find('\'');
  if (quote == std::string_view::npos || card.size() < quote + 6) return false;
  const std::string_view type = card.substr(quote + 1, 4);
  if (type == "RA--" || type == "DEC-") return true;
  return card[quote + 5] == '-' && (type.substr(1) == "LON" || type.substr(1) == "LAT" ||
                                    type.substr(2) == "LN" || type.substr(2) == "LT");
}

/// Selects the cards of the two axes that are kept, and renumbers them to 1 and 2.
class AxisSelection {
 public:
  explicit AxisSelection(const std::array<int, 2>& axes) : m_axes(axes) {}

  /// The new number of an axis, 1 or 2; 0 for an axis that was dropped.
  [[nodiscard]] int operator[](int axis) const {
    return axis == m_axes[0] ? 1 : axis == m_axes[1] ? 2 : 0;
  }
  [[nodiscard]] bool is_plain() const { return m_axes[0] == 1 && m_axes[1] == 2; }

 private:
  std::array<int, 2> m_axes;
};

enum class Fate { keep, drop, spoil };  // spoil: the coordinates as a whole cannot be kept

struct Verdict {
  Fate fate = Fate::drop;
  std::string keyword;  // under which the card is kept
};

Verdict judge_wcs(const std::string& keyword, std::string_view card, const AxisSelection& axes) {
  if (is_sip(keyword)) return {axes.is_plain() ? Fate::keep : Fate::spoil, keyword};
  if (is_frame(keyword)) return {Fate::keep, keyword};
  const auto parts = split_keyword(keyword);
  if (!parts) return {};
  const int first = axes[parts->first];
  if (is_one_of(parts->stem, k_axis_stems) && !parts->second) {
    return {first != 0 ? Fate::keep : Fate::drop,
            parts->stem + std::to_string(first) + parts->alternative};
  }
  if (!parts->second) return {};
  if (is_one_of(parts->stem, k_parameter_stems)) {
    return {first != 0 ? Fate::keep : Fate::drop, parts->stem + std::to_string(first) + "_" +
                                                      std::to_string(*parts->second) +
                                                      parts->alternative};
  }
  if (!is_one_of(parts->stem, k_matrix_stems)) return {};
  const int second = axes[*parts->second];
  if (first != 0 && second != 0) {
    return {Fate::keep, parts->stem + std::to_string(first) + "_" + std::to_string(second) +
                            parts->alternative};
  }
  // A kept axis that is mixed with a dropped one has no meaning alone.
  const bool mixed = (first != 0) != (second != 0) && value_of(card) != 0.0;
  return {mixed ? Fate::spoil : Fate::drop, ""};
}

std::string renamed(std::string_view card, const std::string& keyword) {
  std::string result(card);
  std::string padded = keyword;
  padded.resize(8, ' ');
  return result.replace(0, 8, padded);
}

}  // namespace

std::vector<std::string> kept_cards(const std::vector<std::string>& cards,
                                    const std::array<int, 2>& fits_axes) {
  const AxisSelection axes(fits_axes);
  std::vector<std::string> kept;
  std::vector<std::string> wcs;
  bool spoiled = false;
  int celestial = 0;
  const bool many_beams = detail::has_many_beams(cards);  // the header's is none of the plane's
  std::vector<std::string>* continued = nullptr;  // where the previous card went, for CONTINUE
  for (const std::string& card : cards) {
    const std::string keyword = keyword_of(card);
    if (keyword == "CONTINUE") {
      if (continued != nullptr) continued->push_back(card);
      continue;
    }
    continued = nullptr;
    if (many_beams && (keyword == "BMAJ" || keyword == "BMIN" || keyword == "BPA")) continue;
    if (is_one_of(keyword, k_observation)) {
      continued = &kept;
      kept.push_back(card);
      continue;
    }
    const Verdict verdict = judge_wcs(keyword, card, axes);
    spoiled = spoiled || verdict.fate == Fate::spoil;
    if (verdict.fate != Fate::keep || verdict.keyword.size() > 8) continue;
    if (verdict.keyword.starts_with("CTYPE") && verdict.keyword.size() == 6 && is_celestial(card))
      ++celestial;
    continued = &wcs;
    wcs.push_back(renamed(card, verdict.keyword));
  }
  if (spoiled || celestial == 1) {
    std::string note = "HISTORY the coordinates of the input do not fit the two axes kept";
    note.resize(80, ' ');
    kept.push_back(note);
  } else {
    kept.insert(kept.begin(), wcs.begin(), wcs.end());
  }
  return kept;
}

namespace {

/// The axis of a card whose keyword is STEM1 or STEM2, with this alternative letter; else 0.
int axis_of(std::string_view card, std::string_view stem, std::string_view alternative) {
  const auto parts = split_keyword(keyword_of(card));
  const bool ours = parts && !parts->second && parts->stem == stem &&
                    parts->alternative == alternative && (parts->first == 1 || parts->first == 2);
  return ours ? parts->first : 0;
}

std::string real_card(const std::string& keyword, double value, std::string_view comment) {
  detail::HeaderText text;
  text.add_real(keyword, value, comment);
  return text.finish().substr(0, 80);
}

std::string comment_of(std::string_view card) {
  const auto slash = card.find('/');
  return slash == std::string_view::npos ? "" : detail::trimmed(card.substr(slash + 1));
}

}  // namespace

std::vector<std::string> moved_cards(const std::vector<std::string>& cards, double dx, double dy) {
  std::vector<std::string> moved = cards;
  const std::array<double, 2> shift{dx, dy};
  constexpr std::string_view alternatives = " ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const char letter : alternatives) {
    const std::string alternative = letter == ' ' ? "" : std::string(1, letter);
    for (const int axis : {1, 2}) {
      const double by = shift[static_cast<std::size_t>(axis - 1)];
      if (by == 0) continue;
      const std::string keyword = "CRPIX" + std::to_string(axis) + alternative;
      bool found = false;
      bool described = false;
      for (std::string& card : moved) {
        described = described || axis_of(card, "CTYPE", alternative) == axis ||
                    axis_of(card, "CRVAL", alternative) == axis;
        if (axis_of(card, "CRPIX", alternative) != axis) continue;
        card = real_card(keyword, value_of(card) + by, comment_of(card));
        found = true;
      }
      if (described && !found) moved.push_back(real_card(keyword, by, "reference pixel"));
    }
  }
  return moved;
}

std::vector<std::string> cards_without_beam(const std::vector<std::string>& cards) {
  std::vector<std::string> kept;
  for (const std::string& card : cards) {
    const std::string keyword = keyword_of(card);
    if (keyword != "BMAJ" && keyword != "BMIN" && keyword != "BPA") kept.push_back(card);
  }
  return kept;
}

}  // namespace kastor::io
