// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>

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

}  // namespace

bool keep_distortions(WcsHeader& header, bool plain) {
  const std::string type = header.text("CTYPE1");
  const bool sip = type.ends_with("-SIP") || header.text("CTYPE2").ends_with("-SIP");
  if (!sip)
    drop(header, is_sip,
         ": CTYPE1 is '" + one_line(type) + "', without the -SIP of its convention");
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
