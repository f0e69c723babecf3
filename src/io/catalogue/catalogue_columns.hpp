// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_CATALOGUE_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_CATALOGUE_COLUMNS_HPP

#include <array>
#include <cstdint>
#include <kastor/catalogue.hpp>
#include <type_traits>
#include <variant>

namespace kastor::io::detail {

enum class Quantity { number, pixel, flux };

/// One column of a catalogue. All formats and the hash use the same list of columns.
struct Column {
  const char* name;
  Quantity quantity;
  std::variant<std::int64_t Source::*, std::int32_t Source::*, double Source::*> member;
  const char* ucd;
  const char* description;
};

/// A value as formats and hash store it: all integers have 64 bits.
template <class Number>
[[nodiscard]] auto in_file(Number value) {
  if constexpr (std::is_integral_v<Number>) {
    return std::int64_t{value};
  } else {
    return value;
  }
}

inline constexpr std::array<Column, 12> k_columns = {{
    {"id", Quantity::number, &Source::id, "meta.id;meta.main",
     "number in raster order of the first pixels"},
    {"x_cen", Quantity::pixel, &Source::x_cen, "pos.cartesian.x;stat.mean",
     "flux-weighted centre, from 0"},
    {"y_cen", Quantity::pixel, &Source::y_cen, "pos.cartesian.y;stat.mean",
     "flux-weighted centre, from 0"},
    {"flux_sum", Quantity::flux, &Source::flux_sum, "phot.flux.density;arith.sum",
     "sum of the pixels"},
    {"flux_peak", Quantity::flux, &Source::flux_peak, "phot.flux.density;stat.max",
     "largest pixel"},
    {"x_peak", Quantity::pixel, &Source::x_peak, "pos.cartesian.x;phot.flux;stat.max",
     "pixel of the peak, from 0"},
    {"y_peak", Quantity::pixel, &Source::y_peak, "pos.cartesian.y;phot.flux;stat.max",
     "pixel of the peak, from 0"},
    {"n_pix", Quantity::number, &Source::n_pix, "meta.number;instr.pixel", "number of pixels"},
    {"x_min", Quantity::pixel, &Source::x_min, "pos.cartesian.x;stat.min", "first column, from 0"},
    {"x_max", Quantity::pixel, &Source::x_max, "pos.cartesian.x;stat.max", "last column, from 0"},
    {"y_min", Quantity::pixel, &Source::y_min, "pos.cartesian.y;stat.min", "first row, from 0"},
    {"y_max", Quantity::pixel, &Source::y_max, "pos.cartesian.y;stat.max", "last row, from 0"},
}};

}  // namespace kastor::io::detail

#endif
