// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "io/fits/header_text.hpp"
#include "io/fits/wcs_forms.hpp"
#include "io/fits/wcs_keyword.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

/// Whether the keyword has this stem: DP1, CPDIS2A.
bool is_of(const std::string& keyword, std::string_view stem) {
  const auto parts = split_keyword(keyword);
  return parts && parts->stem == stem;
}

/// Paper IV was never finished. Among the forms of its drafts are tables of displacements (Hubble
/// Space Telescope).
bool is_draft(const std::string& keyword) {
  constexpr std::array<std::string_view, 4> stems = {"CPDIS", "CQDIS", "DP", "DQ"};
  return keyword.starts_with("D2IMDIS") ||
         std::any_of(stems.begin(), stems.end(),
                     [&](std::string_view stem) { return is_of(keyword, stem); });
}

void drop(WcsHeader& header, const std::function<bool(const std::string&)>& chosen,
          const std::string& why) {
  const auto dropped = header.erase(chosen);
  if (!dropped.empty())
    header.notes.push_back("the distortion in " + list_of(dropped) + " is not applied" + why);
}

/// Drops the terms of a SIP polynomial above its order, which is 0 if it is missing (Shupe et al.
/// 2005). \param stem  "A", "B", "AP" or "BP"
void drop_beyond_order(WcsHeader& header, const std::string& stem) {
  const double order = header.real(stem + "_ORDER").value_or(0.0);
  const auto is_beyond = [&](const std::string& keyword) {
    const auto parts = split_keyword(keyword);
    return parts && parts->second && parts->stem == stem + "_" &&
           parts->first + *parts->second > order;
  };
  const bool matters =
      std::any_of(header.cards.begin(), header.cards.end(), [&](const std::string& card) {
        return is_beyond(keyword_of(card)) && real_value(card) != 0.0;
      });
  const auto dropped = header.erase(is_beyond);
  if (matters)
    header.notes.push_back("the distortion in " + list_of(dropped) +
                           " is not applied: it is beyond " + stem + "_ORDER" +
                           (header.has(stem + "_ORDER") ? "" : ", which is missing"));
}

/// Other programs expect both orders of a pair. One that is missing has no terms, so that any
/// order will do: the other's, since astropy reads none where A_ORDER is 0.
void complete_orders(WcsHeader& header, const std::string& a, const std::string& b) {
  for (const auto& [missing, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto order = header.real(other);
    if (!order || header.has(missing)) continue;
    HeaderText text;
    text.add_integer(missing, *order >= 0 && *order <= 9 ? static_cast<int>(*order) : 0);
    header.cards.push_back(text.finish().substr(0, 80));
  }
}

}  // namespace

bool keep_distortions(WcsHeader& header, bool plain) {
  const std::string type = header.text("CTYPE1");
  const bool sip = type.ends_with("-SIP") || header.text("CTYPE2").ends_with("-SIP");
  if (sip) {
    for (const char* stem : {"A", "B", "AP", "BP"}) drop_beyond_order(header, stem);
    complete_orders(header, "A_ORDER", "B_ORDER");
    complete_orders(header, "AP_ORDER", "BP_ORDER");
  } else {
    drop(header, is_sip,
         ": CTYPE1 is '" + one_line(type) + "', without the -SIP of its convention");
  }
  const auto is_iraf = [](const std::string& keyword) { return is_of(keyword, "WAT"); };
  const auto sky = header.celestial("");
  if (sky && (sky->code == "TNX" || sky->code == "ZPX"))
    drop(header, is_iraf, ": only IRAF knows its form");
  header.erase(is_iraf);  // of other types it repeats the rest of the header
  const auto is_plate = [](const std::string& keyword) {
    return is_of(keyword, "AMDX") || is_of(keyword, "AMDY");
  };
  if (type.empty()) {
    header.erase(is_plate);  // without the other coordinates there is nothing to be distorted
  } else {
    drop(header, is_plate, ": the plate solution is replaced by the approximation in the header");
  }
  drop(header, is_draft, ": the standard does not have it");
  return plain || std::none_of(header.cards.begin(), header.cards.end(),
                               [](const auto& card) { return is_sip(keyword_of(card)); });
}

}  // namespace kastor::io::detail
