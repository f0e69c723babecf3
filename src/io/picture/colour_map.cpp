// SPDX-License-Identifier: Apache-2.0
#include "io/picture/colour_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

namespace kastor::io::picture {
namespace {

// SPDX-SnippetBegin
// SPDX-License-Identifier: CC0-1.0
// SPDX-SnippetCopyrightText: Nathaniel J. Smith, Stefan van der Walt and Eric Firing
// viridis by Nathaniel J. Smith, Stefan van der Walt and Eric Firing, released under CC0
// (github.com/BIDS/colormap, colormaps.py), rounded to 8 bits: RRGGBB for each of the 256 entries.
constexpr std::string_view k_viridis =
    "44015444025645045745055946075a46085c460a5d460b5e470d60470e61471063471164471365481467481668"
    "48176948186a481a6c481b6d481c6e481d6f481f70482071482173482374482475482576482677482878482979"
    "472a7a472c7a472d7b472e7c472f7d46307e46327e46337f463480453581453781453882443983443a83443b84"
    "433d84433e85423f854240864241864142874144874045884046883f47883f48893e49893e4a893e4c8a3d4d8a"
    "3d4e8a3c4f8a3c508b3b518b3b528b3a538b3a548c39558c39568c38588c38598c375a8c375b8d365c8d365d8d"
    "355e8d355f8d34608d34618d33628d33638d32648e32658e31668e31678e31688e30698e306a8e2f6b8e2f6c8e"
    "2e6d8e2e6e8e2e6f8e2d708e2d718e2c718e2c728e2c738e2b748e2b758e2a768e2a778e2a788e29798e297a8e"
    "297b8e287c8e287d8e277e8e277f8e27808e26818e26828e26828e25838e25848e25858e24868e24878e23888e"
    "23898e238a8d228b8d228c8d228d8d218e8d218f8d21908d21918c20928c20928c20938c1f948c1f958b1f968b"
    "1f978b1f988b1f998a1f9a8a1e9b8a1e9c891e9d891f9e891f9f881fa0881fa1881fa1871fa28720a38620a486"
    "21a58521a68522a78522a88423a98324aa8325ab8225ac8226ad8127ad8128ae8029af7f2ab07f2cb17e2db27d"
    "2eb37c2fb47c31b57b32b67a34b67935b77937b87838b9773aba763bbb753dbc743fbc7340bd7242be7144bf70"
    "46c06f48c16e4ac16d4cc26c4ec36b50c46a52c56954c56856c66758c7655ac8645cc8635ec96260ca6063cb5f"
    "65cb5e67cc5c69cd5b6ccd5a6ece5870cf5773d05675d05477d1537ad1517cd2507fd34e81d34d84d44b86d549"
    "89d5488bd6468ed64590d74393d74195d84098d83e9bd93c9dd93ba0da39a2da37a5db36a8db34aadc32addc30"
    "b0dd2fb2dd2db5de2bb8de29bade28bddf26c0df25c2df23c5e021c8e020cae11fcde11dd0e11cd2e21bd5e21a"
    "d8e219dae319dde318dfe318e2e418e5e419e7e419eae51aece51befe51cf1e51df4e61ef6e620f8e621fbe723"
    "fde725";
// SPDX-SnippetEnd
static_assert(k_viridis.size() == 256 * 6);

int hex_digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

Colour viridis(std::size_t i) {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint8_t>(16 * hex_digit(k_viridis[6 * i + at]) +
                                     hex_digit(k_viridis[6 * i + at + 1]));
  };
  return {byte(0), byte(2), byte(4)};
}

/// Green, D. A., 2011, Bull. Astr. Soc. India 39, 289, equation 2, with the paper's default
/// parameters: start 0.5, -1.5 rotations, hue 1, gamma 1.
Colour cubehelix(double lambda) {
  const double angle = 2.0 * std::numbers::pi * (0.5 / 3.0 + 1.0 - 1.5 * lambda);
  const double amplitude = lambda * (1.0 - lambda) / 2.0;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const auto byte = [&](double cosine, double sine) {
    const double value = lambda + amplitude * (cosine * c + sine * s);
    return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
  };
  return {byte(-0.14861, 1.78277), byte(-0.29227, -0.90649), byte(1.97294, 0.0)};
}

}  // namespace

std::array<Colour, 256> colours_of(ColourMap map) {
  std::array<Colour, 256> colours{};
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const auto level = static_cast<std::uint8_t>(map == ColourMap::inverted_grey ? 255 - i : i);
    switch (map) {
      case ColourMap::grey:
      case ColourMap::inverted_grey:
        colours[i] = {level, level, level};
        break;
      case ColourMap::viridis:
        colours[i] = viridis(i);
        break;
      case ColourMap::cubehelix:
        colours[i] = cubehelix(static_cast<double>(i) / 255.0);
        break;
    }
  }
  return colours;
}

Colour colour_at(const std::array<Colour, 256>& colours, double t) {
  const double entry = std::floor(std::clamp(t, 0.0, 1.0) * 256.0);
  return colours[std::min<std::size_t>(static_cast<std::size_t>(entry), 255)];
}

MarkColours mark_colours(ColourMap map) {
  switch (map) {
    case ColourMap::inverted_grey:
      return {{214, 32, 39}, k_white};
    case ColourMap::grey:
      return {{255, 176, 0}, k_black};
    default:
      return {k_white, k_black};
  }
}

}  // namespace kastor::io::picture
