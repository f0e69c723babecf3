// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_COLOUR_MAP_HPP
#define KASTOR_SRC_IO_PICTURE_COLOUR_MAP_HPP

#include <array>
#include <cstdint>
#include <kastor/io/picture_params.hpp>

namespace kastor::io::picture {

struct Colour {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
  friend bool operator==(const Colour&, const Colour&) = default;
};

inline constexpr Colour k_black{0, 0, 0};
inline constexpr Colour k_white{255, 255, 255};
/// Colour of blank pixels: a bluish grey that is in none of the maps.
inline constexpr Colour k_blank{150, 170, 200};

/// The colours from t = 0 to t = 1 in equal steps.
[[nodiscard]] std::array<Colour, 256> colours_of(ColourMap map);

/// The entry for `t`, which may be outside 0..1 but not NaN.
[[nodiscard]] Colour colour_at(const std::array<Colour, 256>& colours, double t);

/// Colours of a line and its rim that contrast with every colour of the map.
struct MarkColours {
  Colour line;
  Colour rim;
};
[[nodiscard]] MarkColours mark_colours(ColourMap map);

}  // namespace kastor::io::picture

#endif
