// SPDX-License-Identifier: Apache-2.0
#include "io/sky/flux_unit.hpp"

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>

#include "io/text.hpp"

namespace kastor::io::detail {
namespace {

struct Prefix {
  std::string_view name;
  std::string_view standard;
  double factor;
};
constexpr std::array<Prefix, 8> k_prefixes{{{"", "", 1.0},
                                            {"m", "m", 1e-3},
                                            {"u", "u", 1e-6},
                                            {"\xc2\xb5", "u", 1e-6},  // the micro sign in UTF-8
                                            {"n", "n", 1e-9},
                                            {"k", "k", 1e3},
                                            {"M", "M", 1e6},
                                            {"G", "G", 1e9}}};

std::string without(std::string_view text, std::string_view unwanted) {
  std::string result;
  for (const char c : text) {
    if (unwanted.find(c) == std::string_view::npos) result += c;
  }
  return result;
}

constexpr double k_arcsec2_per_sr = 648'000.0 / std::numbers::pi * (648'000.0 / std::numbers::pi);

struct Denominator {
  FluxUnit::Per per;
  double size;  // size of this unit in terms of `per`
  std::string_view name;
};

/// The unit after "JY", in upper case, without blanks and power signs.
std::optional<Denominator> denominator_of(const std::string& text) {
  using Per = FluxUnit::Per;
  const auto is_any = [&](std::initializer_list<std::string_view> names, std::string_view power) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      const std::string above = std::string("/") + std::string(name) + std::string(power);
      const std::string below =
          std::string(name) + "-" + (power.empty() ? "1" : std::string(power));
      return text == above || text == below;
    });
  };
  if (is_any({"BEAM", "BEAMS", "BM", "B"}, "")) return Denominator{Per::beam, 1.0, "/beam"};
  if (is_any({"PIXEL", "PIX", "PX"}, "")) return Denominator{Per::pixel, 1.0, "/pixel"};
  if (is_any({"SR", "STERAD", "STERADIAN"}, "")) {
    return Denominator{Per::arcsec2, k_arcsec2_per_sr, "/sr"};
  }
  if (is_any({"ARCSEC"}, "2")) return Denominator{Per::arcsec2, 1.0, "/arcsec2"};
  return std::nullopt;
}

}  // namespace

FluxUnit flux_unit(std::string_view bunit) {
  FluxUnit unknown;
  unknown.pixel = trimmed(bunit);
  const std::string text = without(bunit, " .*^(){}");
  const std::string upper = upper_case(text);
  const auto at = upper.find("JY");
  if (at == std::string::npos) return unknown;
  const std::string symbol = text.substr(0, at);
  const bool capitals = text.compare(at, 2, "JY") == 0;
  const auto* prefix = std::find_if(k_prefixes.begin(), k_prefixes.end(), [&](const Prefix& p) {
    return p.name == symbol || (capitals && symbol.size() == 1 && p.name.size() == 1 &&
                                symbol != "M" && upper_case(p.name) == symbol);
  });
  const auto denominator = denominator_of(upper.substr(at + 2));
  if (prefix == k_prefixes.end() || !denominator) return unknown;
  FluxUnit unit;
  unit.per = denominator->per;
  if (capitals && symbol == "M" && unit.per != FluxUnit::Per::arcsec2) return unknown;
  const bool on_sky = unit.per == FluxUnit::Per::arcsec2;
  unit.pixel = std::string(prefix->standard) + "Jy" + std::string(denominator->name);
  unit.integrated = on_sky ? "Jy" : std::string(prefix->standard) + "Jy";
  unit.factor = on_sky ? prefix->factor / denominator->size : 1.0;
  return unit;
}

}  // namespace kastor::io::detail
