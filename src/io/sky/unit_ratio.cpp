// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
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

constexpr double k_degrees_per_radian = 180.0 / std::numbers::pi;

/// A unit as a number times powers of symbols.
struct UnitPowers {
  int ten = 0;         // of prefixes and a scale: 10^ten
  double above = 1.0;  // the rest of the number: above / below
  double below = 1.0;
  std::map<std::string_view, int> symbols;

  void multiply(double number, int power) {
    for (int i = 0; i < std::abs(power); ++i) (power > 0 ? above : below) *= number;
  }
};

bool is_angle(std::string_view symbol) {
  return symbol == "sr" || symbol == "deg" || symbol == "arcmin" || symbol == "arcsec";
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
  if (!unit->scale_ten) powers.above = unit->scale;
  for (const auto& [symbol, prefix, power, any_prefix_m] : factors) {
    // Nobody measures milli-Jy per steradian in capitals, but both are in use per beam.
    if (any_prefix_m && !on_sky) return std::nullopt;
    powers.ten += prefix * power;
    if (symbol == "deg") powers.multiply(3600, power);
    if (symbol == "arcmin") powers.multiply(60, power);
    if (symbol == "sr") powers.multiply(3600 * k_degrees_per_radian, 2 * power);
    const bool angle = is_angle(symbol);
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
  for (const std::string& unit : {base, "(" + base + ")"}) {
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
  const auto a = unit_powers(detail::trimmed(from));
  auto b = unit_powers(detail::trimmed(to));
  if (!a || !b) return std::nullopt;
  for (auto& entry : b->symbols) entry.second *= power;
  if (a->symbols != b->symbols) return std::nullopt;

  UnitPowers ratio = *a;
  ratio.multiply(b->above, -power);
  ratio.multiply(b->below, power);
  if (ratio.above == ratio.below) ratio.above = ratio.below = 1.0;
  const int ten = a->ten - b->ten * power;
  // Products of tens are exact up to 1e22.
  ratio.multiply(10, ten);
  const UnitRatio result{ratio.above, ratio.below};
  if (!std::isfinite(result.times) || !std::isfinite(result.by)) return std::nullopt;
  return result;
}

}  // namespace kastor::io
