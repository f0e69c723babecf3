// SPDX-License-Identifier: Apache-2.0
#include "io/sky/flux_unit.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "io/sky/unit_text.hpp"
#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

constexpr double k_arcsec2_per_sr = 648'000.0 / std::numbers::pi * (648'000.0 / std::numbers::pi);

struct Denominator {
  std::string_view symbol;
  int power;
  FluxUnit::Per per;
  double size;  // size of this unit in terms of `per`
  std::string_view name;
};
constexpr std::array<Denominator, 6> k_denominators{
    {{"beam", -1, FluxUnit::Per::beam, 1.0, "/beam"},
     {"pixel", -1, FluxUnit::Per::pixel, 1.0, "/pixel"},
     {"sr", -1, FluxUnit::Per::arcsec2, k_arcsec2_per_sr, "/sr"},
     {"arcsec", -2, FluxUnit::Per::arcsec2, 1.0, "/arcsec2"},
     {"arcmin", -2, FluxUnit::Per::arcsec2, 3600.0, "/arcmin2"},
     {"deg", -2, FluxUnit::Per::arcsec2, 3600.0 * 3600.0, "/deg2"}}};

const Denominator* denominator_of(const UnitFactor& factor) {
  for (const Denominator& each : k_denominators) {
    if (factor.symbol == each.symbol && factor.power == each.power) return &each;
  }
  return nullptr;
}

}  // namespace

FluxUnit flux_unit(std::string_view bunit) {
  FluxUnit unknown;
  unknown.pixel = standard_unit(bunit);
  const auto text = parse_unit(trimmed(bunit));
  if (!text || text->factors.size() != 2) return unknown;
  const bool flux_first = text->factors[0].symbol == "Jy";
  const UnitFactor& flux = text->factors[flux_first ? 0 : 1];
  const Denominator* below = denominator_of(text->factors[flux_first ? 1 : 0]);
  if (flux.symbol != "Jy" || flux.power != 1 || below == nullptr) return unknown;
  const bool on_sky = below->per == FluxUnit::Per::arcsec2;
  if (flux.any_prefix_m && !on_sky) return unknown;

  FluxUnit unit;
  unit.per = below->per;
  int ten = flux.prefix + text->scale_ten.value_or(0);
  if ((text->scale != 1 && !text->scale_ten) || !si_prefix(ten)) {
    ten = flux.prefix;
    unit.scale = text->scale;
  }
  const std::string multiple = std::string(si_prefix(ten).value_or("")) + "Jy";
  unit.pixel = multiple + std::string(below->name);
  unit.integrated = on_sky ? "Jy" : multiple;
  const double janskys = on_sky ? std::pow(10.0, std::abs(ten)) : 1.0;
  unit.factor = unit.scale * (ten < 0 ? 1.0 / janskys : janskys) / below->size;
  return unit;
}

}  // namespace kastor::io::detail
