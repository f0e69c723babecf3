// SPDX-License-Identifier: Apache-2.0
#include "io/sky/unit_words.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

struct UnitPrefix {
  std::string_view symbol;
  std::string_view name;  // in upper case
  int power;
};
// FITS standard 4.0, table 5.
constexpr std::array<UnitPrefix, 20> k_si_prefixes{
    {{"m", "MILLI", -3},  {"u", "MICRO", -6}, {"n", "NANO", -9},   {"p", "PICO", -12},
     {"f", "FEMTO", -15}, {"a", "ATTO", -18}, {"z", "ZEPTO", -21}, {"y", "YOCTO", -24},
     {"c", "CENTI", -2},  {"d", "DECI", -1},  {"da", "DECA", 1},   {"h", "HECTO", 2},
     {"k", "KILO", 3},    {"M", "MEGA", 6},   {"G", "GIGA", 9},    {"T", "TERA", 12},
     {"P", "PETA", 15},   {"E", "EXA", 18},   {"Z", "ZETTA", 21},  {"Y", "YOTTA", 24}}};

// The micro sign and the Greek letter in UTF-8, and the micro sign in Latin-1.
constexpr std::array<std::string_view, 3> k_micro = {"\xc2\xb5", "\xce\xbc", "\xb5"};

struct UnitName {
  std::string_view symbol;  // of the FITS standard
  std::string_view names;   // in upper case, each between blanks
  bool takes_prefix;
};
constexpr std::array<UnitName, 20> k_units{{
    {"Jy", " JY JANSKY JANSKYS JANSKIES ", true},
    {"beam", " BEAM BEAMS BM B ", false},
    {"pixel", " PIXEL PIXELS PIX PX ", false},
    {"sr", " SR STER STERAD STERADIAN STERADIANS ", false},
    {"arcsec", " ARCSEC ARCSECS ARCSECOND ARCSECONDS ASEC ", false},
    {"arcmin", " ARCMIN ARCMINS ARCMINUTE ARCMINUTES AMIN ", false},
    {"deg", " DEG DEGS DEGREE DEGREES ", false},
    {"K", " K KELVIN KELVINS ", true},
    {"count", " COUNT COUNTS CT CTS CNT CNTS ", false},
    {"adu", " ADU ADUS ", false},
    {"photon", " PHOTON PHOTONS PH ", false},
    {"s", " S SEC SECS SECOND SECONDS ", true},
    {"Hz", " HZ HERTZ ", true},
    {"m", " METRE METRES METER METERS ", true},
    {"W", " W WATT WATTS ", true},
    {"J", " JOULE JOULES ", true},
    {"eV", " EV ", true},
    {"mag", " MAG MAGS MAGNITUDE MAGNITUDES ", false},
    {"G", " GAUSS ", true},
    {"T", " TESLA TESLAS ", true},
}};

std::optional<int> power_of_name(std::string_view upper) {
  for (const UnitPrefix& prefix : k_si_prefixes) {
    if (upper == prefix.name) return prefix.power;
  }
  return std::nullopt;
}

std::optional<int> power_of_symbol(std::string_view symbol) {
  for (const UnitPrefix& prefix : k_si_prefixes) {
    if (symbol == prefix.symbol) return prefix.power;
  }
  if (std::find(k_micro.begin(), k_micro.end(), symbol) != k_micro.end()) return -6;
  return std::nullopt;
}

/// The prefix before a name that is all capitals, as in headers of AIPS. Not all may be meant:
/// P is peta or pico.
std::optional<int> power_in_capitals(std::string_view symbol) {
  for (const auto& [letter, power] : {std::pair{"U", -6}, std::pair{"N", -9}, std::pair{"K", 3}}) {
    if (symbol == letter) return power;
  }
  return std::nullopt;
}

std::optional<UnitFactor> with_prefix(const UnitName& unit, std::string_view front,
                                      std::string_view name, const std::string& upper_front) {
  UnitFactor factor{unit.symbol};
  if (const auto power = power_of_name(upper_front)) {
    factor.prefix = *power;
    return factor;
  }
  // "mJy" but not "MHZ" for mHz: only Jy is written in other cases often enough.
  const bool exact = name == unit.symbol;
  if (!exact && unit.symbol != "Jy") return std::nullopt;
  const bool capitals = !exact && name == upper_case(name);
  if (capitals && (front == "P" || front == "Z" || front == "Y")) return std::nullopt;
  auto power = power_of_symbol(front);
  if (!power && capitals) power = power_in_capitals(front);
  if (!power) return std::nullopt;
  factor.prefix = *power;
  factor.any_prefix_m = capitals && front == "M";
  return factor;
}

/// One unit, with or without a prefix.
std::optional<UnitFactor> one_unit(std::string_view word) {
  const std::string upper = upper_case(word);
  for (const UnitName& unit : k_units) {
    if (word == unit.symbol || unit.names.find(" " + upper + " ") != std::string_view::npos)
      return UnitFactor{unit.symbol};
  }
  for (const UnitName& unit : k_units) {
    if (!unit.takes_prefix) continue;
    for (std::size_t at = 1; at < word.size(); ++at) {
      const std::string_view name = word.substr(at);
      const bool known = name == unit.symbol ||
                         unit.names.find(" " + upper.substr(at) + " ") != std::string_view::npos;
      if (!known) continue;
      if (auto factor = with_prefix(unit, word.substr(0, at), name, upper.substr(0, at)))
        return factor;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> si_prefix(int power) {
  if (power == 0) return "";
  for (const UnitPrefix& prefix : k_si_prefixes) {
    if (prefix.power == power) return prefix.symbol;
  }
  return std::nullopt;
}

std::vector<UnitFactor> unit_word(std::string_view word) {
  if (const auto unit = one_unit(word)) return {*unit};
  const std::string upper = upper_case(word);
  if (upper.starts_with("SQ")) {
    if (auto unit = one_unit(word.substr(2))) {
      unit->power = 2;
      return {*unit};
    }
  }
  const auto jansky = upper.find("JY");
  if (jansky == std::string::npos) return {};
  const auto first = one_unit(word.substr(0, jansky + 2));
  const auto second = one_unit(word.substr(jansky + 2));
  if (!first || !second) return {};
  return {*first, *second};
}

}  // namespace kastor::io::detail
