// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <kastor/io/unit_ratio.hpp>
#include <map>
#include <numbers>
#include <string>

#include "io/sky/unit_text.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

constexpr double k_arcsec_per_radian = 648'000.0 / std::numbers::pi;

struct AngleUnit {
  std::string_view symbol;
  double size;  // [arcsec; arcsec2 for sr]
};
constexpr std::array<AngleUnit, 4> k_angles{{{"arcsec", 1},
                                             {"arcmin", 60},
                                             {"deg", 3600},
                                             {"sr", k_arcsec_per_radian* k_arcsec_per_radian}}};

/// A unit as a number times powers of symbols.
struct UnitPowers {
  int ten = 0;                              // of prefixes and a scale: 10^ten
  double scale = 1.0;                       // that is no power of ten
  std::map<std::string_view, int> angles;   // before they are converted to arcsec
  std::map<std::string_view, int> symbols;  // angles as arcsec
};

bool is_angle(std::string_view symbol) {
  return std::any_of(k_angles.begin(), k_angles.end(),
                     [symbol](const AngleUnit& each) { return each.symbol == symbol; });
}

/// None if the unit is not understood.
std::optional<UnitPowers> unit_powers(std::string_view text) {
  const auto unit = detail::parse_unit(text);
  if (!unit) return std::nullopt;
  const auto& factors = unit->factors;
  const bool on_sky = std::any_of(factors.begin(), factors.end(),
                                  [](const auto& factor) { return is_angle(factor.symbol); });
  UnitPowers powers;
  powers.ten = unit->scale_ten.value_or(0);
  if (!unit->scale_ten) powers.scale = unit->scale;
  for (const auto& [symbol, prefix, power, any_prefix_m] : factors) {
    // Nobody measures milli-Jy per steradian in capitals, but both are in use per beam.
    if (any_prefix_m && !on_sky) return std::nullopt;
    powers.ten += prefix * power;
    const bool angle = is_angle(symbol);
    if (angle) powers.angles[symbol] += power;
    powers.symbols[angle ? "arcsec" : symbol] += symbol == "sr" ? 2 * power : power;
  }
  std::erase_if(powers.symbols, [](const auto& entry) { return entry.second == 0; });
  return powers;
}

std::string packed_unit(std::string_view text) {
  std::string result(text);
  std::erase(result, ' ');
  return result;
}

/// Whether `from` is spelled as the power of `to`.
bool is_spelled_alike(std::string_view from, std::string_view to, int power) {
  const std::string found = packed_unit(from);
  const std::string base = packed_unit(to);
  if (power == 1) return found == base;
  // In "Jy/beam**2" the power is that of the beam.
  const bool is_word =
      base.find_first_of("/*.^ ") == std::string::npos && to.find(' ') == std::string_view::npos;
  for (const std::string& unit : {"(" + base + ")", is_word ? base : "(" + base + ")"}) {
    for (const char* mark : {"**", "^", ""}) {
      if (found == fmt::format("{}{}{}", unit, mark, power)) return true;
      if (found == fmt::format("{}{}({})", unit, mark, power)) return true;
      if (power < 0 && found == fmt::format("1/{}{}{}", unit, mark, -power)) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<UnitRatio> unit_ratio(std::string_view from, std::string_view to, int power) {
  if (is_spelled_alike(from, to, power)) return UnitRatio{};
  auto a = unit_powers(detail::trimmed(from));
  auto b = unit_powers(detail::trimmed(to));
  if (!a || !b) return std::nullopt;
  for (auto& entry : b->symbols) entry.second *= power;
  if (a->symbols != b->symbols) return std::nullopt;

  UnitRatio result{a->scale, 1.0};
  const auto multiply = [&](double number, int times) {
    for (int i = 0; i < std::abs(times); ++i) (times > 0 ? result.times : result.by) *= number;
  };
  multiply(b->scale, -power);
  if (result.times == result.by) result = {};
  // What stands in both units cancels before it is rounded.
  for (const auto& [symbol, size] : k_angles)
    multiply(size, a->angles[symbol] - power * b->angles[symbol]);
  multiply(10, a->ten - power * b->ten);  // exact up to 1e22
  const auto is_usable = [](double value) { return value > 0 && std::isfinite(value); };
  if (!is_usable(result.times) || !is_usable(result.by)) return std::nullopt;
  return result;
}

}  // namespace kastor::io
