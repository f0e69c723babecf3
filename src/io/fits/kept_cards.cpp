// SPDX-License-Identifier: Apache-2.0
#include "io/fits/kept_cards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <kastor/error.hpp>
#include <kastor/io/fits_writer.hpp>
#include <string_view>

#include "io/fits/wcs_forms.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/sky/raw_beam.hpp"
#include "io/sky/wcs_check.hpp"

namespace kastor::io {
namespace {

using detail::keyword_of;
using detail::WcsHeader;
using detail::WcsKeyword;
using detail::WcsRole;

// Cards that are valid for every image of the same sky and observation.
constexpr std::array<std::string_view, 21> k_observation = {
    "OBJECT",   "TELESCOP", "INSTRUME", "OBSERVER", "FILTER",  "EXPTIME", "DATE-OBS",
    "DATE-BEG", "DATE-AVG", "DATE-END", "MJD-OBS",  "MJD-BEG", "MJD-AVG", "MJD-END",
    "MJDREF",   "TIMESYS",  "TIME-OBS", "BMAJ",     "BMIN",    "BPA",     "VELREF"};

bool is_observation(std::string_view keyword) {
  return std::find(k_observation.begin(), k_observation.end(), keyword) != k_observation.end();
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

/// The matrix element with its axes renumbered, in the notation that it had.
std::string matrix_keyword(WcsKeyword parts, int first, int second) {
  parts.first = first;
  parts.second = second;
  if (!parts.old_matrix) return parts.text();
  return fmt::format("{}{:03}{:03}", parts.stem, first, second);
}

Verdict judge_wcs(const std::string& keyword, std::string_view card, const AxisSelection& axes) {
  auto parts = detail::split_keyword(keyword);
  const WcsRole role = detail::role_of(keyword, parts);
  if (role == WcsRole::none) return {};
  if (role == WcsRole::whole || role == WcsRole::distortion || role == WcsRole::projp)
    return {Fate::keep, keyword};
  const int first = axes[parts->first];
  if (role == WcsRole::matrix) {
    const int second = axes[parts->second.value_or(0)];
    if (first != 0 && second != 0) return {Fate::keep, matrix_keyword(*parts, first, second)};
    // A kept axis that is mixed with a dropped one has no meaning alone. What is not a number
    // counts as present.
    const bool mixed = (first != 0) != (second != 0) && detail::real_value(card) != 0.0;
    return {mixed ? Fate::spoil : Fate::drop, ""};
  }
  parts->first = first;
  return {first != 0 ? Fate::keep : Fate::drop, parts->text()};
}

/// A note as HISTORY, of as many cards as it needs.
void add_history(std::vector<std::string>& cards, std::string_view note) {
  constexpr std::size_t length = 72;
  for (std::size_t at = 0; at < note.size(); at += length) {
    std::string card = "HISTORY " + std::string(note.substr(at, length));
    card.resize(80, ' ');
    cards.push_back(card);
  }
}

/// Without a card that is no number the others would show another sky: all are dropped then.
void drop_unusable(detail::KeptCards& kept) {
  if (!WcsHeader{kept.wcs, {}}.celestial("")) return;
  try {
    std::vector<std::string> unused;
    detail::check_wcs_cards(kept.wcs, unused);
  } catch (const Error& error) {
    std::string_view why = error.what();
    why.remove_prefix(std::min(why.find(": ") + 2, why.size()));  // the function
    kept.wcs.clear();
    kept.notes = {"the coordinates of the input are left out: " + std::string(why)};
  }
}

}  // namespace

namespace detail {

KeptCards split_kept_cards(const std::vector<std::string>& cards,
                           const std::array<int, 2>& fits_axes) {
  const AxisSelection axes(fits_axes);
  KeptCards kept;
  WcsHeader wcs;
  bool spoiled = false;
  const bool many_beams = has_many_beams(cards);  // the header's is none of the plane's
  std::vector<std::string> celestial;             // the cards of those types
  std::vector<std::string>* continued = nullptr;  // where the previous card went, for CONTINUE
  for (const std::string& card : cards) {
    const std::string keyword = keyword_of(card);
    if (keyword == "CONTINUE") {
      if (continued != nullptr) continued->push_back(card);
      continue;
    }
    continued = nullptr;
    if (many_beams && (keyword == "BMAJ" || keyword == "BMIN" || keyword == "BPA")) continue;
    if (is_observation(keyword)) {
      continued = &kept.observation;
      kept.observation.push_back(card);
      continue;
    }
    const Verdict verdict = judge_wcs(keyword, card, axes);
    spoiled = spoiled || verdict.fate == Fate::spoil;
    if (verdict.fate != Fate::keep || verdict.keyword.size() > 8) continue;
    if (verdict.keyword.starts_with("CTYPE") && verdict.keyword.size() == 6 && is_celestial(card))
      celestial.push_back(renamed(card, verdict.keyword));
    continued = &wcs.cards;
    wcs.cards.push_back(with_exponent_e(renamed(card, verdict.keyword)));
  }
  if (!spoiled && celestial.size() != 1 && keep_distortions(wcs, axes.is_plain())) {
    translate_old_forms(wcs);
    translate_tpv(wcs);
    drop_unused_parameters(wcs);
    kept.wcs = std::move(wcs.cards);
    kept.notes = std::move(wcs.notes);
  } else {
    kept.notes = {"the coordinates of the input do not fit the two axes kept"};
    kept.why_no_wcs = celestial.size() == 1
                          ? found_in(celestial.front()) + ", without the other axis of the sky"
                          : "the coordinates mix the axes of the image with others";
  }
  return kept;
}

}  // namespace detail

std::vector<std::string> kept_cards(const std::vector<std::string>& cards,
                                    const std::array<int, 2>& fits_axes) {
  auto parts = detail::split_kept_cards(cards, fits_axes);
  drop_unusable(parts);
  std::vector<std::string> kept = std::move(parts.wcs);
  kept.insert(kept.end(), parts.observation.begin(), parts.observation.end());
  for (const std::string& note : parts.notes) add_history(kept, note);
  return kept;
}

}  // namespace kastor::io
