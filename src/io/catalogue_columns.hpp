// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_COLUMNS_HPP
#define KASTOR_SRC_IO_CATALOGUE_COLUMNS_HPP

#include <array>
#include <cstdint>
#include <kastor/catalogue.hpp>
#include <variant>

namespace kastor::io::detail {

enum class Quantity { number, pixel, flux };

/// One column of a catalogue: the one list that CSV, FITS and the hash follow.
struct Column {
  const char* name;
  Quantity quantity;
  std::variant<std::int64_t Source::*, double Source::*> member;
};

inline constexpr std::array<Column, 12> k_columns = {{
    {"id", Quantity::number, &Source::id},
    {"x_cen", Quantity::pixel, &Source::x_cen},
    {"y_cen", Quantity::pixel, &Source::y_cen},
    {"flux_sum", Quantity::flux, &Source::flux_sum},
    {"flux_peak", Quantity::flux, &Source::flux_peak},
    {"x_peak", Quantity::pixel, &Source::x_peak},
    {"y_peak", Quantity::pixel, &Source::y_peak},
    {"n_pix", Quantity::number, &Source::n_pix},
    {"x_min", Quantity::pixel, &Source::x_min},
    {"x_max", Quantity::pixel, &Source::x_max},
    {"y_min", Quantity::pixel, &Source::y_min},
    {"y_max", Quantity::pixel, &Source::y_max},
}};

}  // namespace kastor::io::detail

#endif
