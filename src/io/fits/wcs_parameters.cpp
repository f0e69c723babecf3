// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>

#include "io/fits/wcs_forms.hpp"
#include "io/fits/wcs_keyword.hpp"

namespace kastor::io::detail {
namespace {

/// The numbers m of PVi_m on the latitude axis, one bit each (Calabretta & Greisen 2002, table 13;
/// HPX: Calabretta & Roukema 2007).
struct Parameters {
  std::string_view code;
  std::uint32_t known;
};
constexpr std::uint32_t k_one = 0b10;
constexpr std::uint32_t k_two = 0b110;
constexpr std::uint32_t k_polynomial = 0x3fffffff;  // 0 to 29
constexpr std::array<Parameters, 31> k_parameters = {
    {{"AZP", k_two},       {"SZP", 0b1110}, {"TAN", 0},     {"STG", 0},     {"SIN", k_two},
     {"ARC", 0},           {"ZEA", 0},      {"AIR", k_one}, {"CYP", k_two}, {"CEA", k_one},
     {"CAR", 0},           {"MER", 0},      {"COP", k_two}, {"COE", k_two}, {"COD", k_two},
     {"COO", k_two},       {"BON", k_one},  {"PCO", 0},     {"SFL", 0},     {"PAR", 0},
     {"MOL", 0},           {"AIT", 0},      {"TSC", 0},     {"CSC", 0},     {"QSC", 0},
     {"HPX", k_two},       {"XPH", 0},      {"NCP", 0},     {"GLS", 0},     {"TNX", 0},
     {"ZPN", k_polynomial}}};

/// Whether PVi_m means something to the projection.
bool is_used(const WcsKeyword& parameter, const CelestialAxes& sky, std::uint32_t known) {
  const int m = parameter.second.value_or(0);
  // On the longitude axis: the native coordinates of the reference pixel and of the pole.
  if (parameter.first == sky.longitude) return m <= 4;
  return parameter.first != sky.latitude || (m < 32 && (known >> m & 1U) != 0);
}

void drop_unused_parameters(WcsHeader& header, const std::string& alternative) {
  const auto sky = header.celestial(alternative);
  if (!sky) return;
  const auto* entry = std::find_if(k_parameters.begin(), k_parameters.end(),
                                   [&](const Parameters& each) { return each.code == sky->code; });
  if (entry == k_parameters.end()) return;
  const auto is_unused = [&](const std::string& keyword) {
    const auto parts = split_keyword(keyword);
    return parts && parts->stem == "PV" && parts->second && parts->alternative == alternative &&
           !is_used(*parts, *sky, entry->known);
  };
  const bool matters =
      std::any_of(header.cards.begin(), header.cards.end(), [&](const std::string& card) {
        return card.starts_with("PV") && is_unused(keyword_of(card)) && real_value(card) != 0.0;
      });
  const auto dropped = header.erase(is_unused);
  if (matters) {
    header.notes.push_back(list_of(dropped) + " of the header: not used, since the projection " +
                           sky->code + (sky->sip ? "-SIP" : "") + " has no such parameter");
  }
}

}  // namespace

void drop_unused_parameters(WcsHeader& header) {
  for (const std::string& alternative : header.alternatives())
    drop_unused_parameters(header, alternative);
}

}  // namespace kastor::io::detail
