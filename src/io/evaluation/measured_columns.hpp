// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_EVALUATION_MEASURED_COLUMNS_HPP
#define KASTOR_SRC_IO_EVALUATION_MEASURED_COLUMNS_HPP

#include <array>
#include <functional>
#include <kastor/io/evaluation.hpp>
#include <string>
#include <string_view>

namespace kastor::io::detail {

/// What the values of a column are, if their unit does not say it.
enum class MeasuredAs {
  density,     ///< a flux density, or the brightness of a peak in the unit of the truth
  pixel_sum,   ///< a sum of pixels, in the unit of the image
  pixel_value  ///< the value of a pixel, in the unit of the image
};

/// A column by the name that a program gives it.
struct MeasuredName {
  MeasuredQuantity quantity;
  std::string_view name;                   ///< in upper case
  std::array<std::string_view, 2> errors;  ///< columns of its error, the first that exists
  MeasuredAs as;
  std::string_view unit = {};       ///< of the program that writes it, if it is known
  std::string_view requires_ = {};  ///< another column that shows which program wrote the table
  std::string_view without = {};    ///< a column whose presence makes it another quantity
};

/// The names of a quantity, the best first.
[[nodiscard]] std::vector<const MeasuredName*> measured_names(MeasuredQuantity quantity);

/// Whether a name, in upper case, is of a column that the evaluation uses.
[[nodiscard]] bool is_evaluated_column(std::string_view upper);

/// Names of the errors of positions: along x or longitude, and along y or latitude.
struct PositionErrorNames {
  std::string_view first, second;  ///< in upper case
  std::string_view unit;           ///< "pixel", or of angles on the sky
  bool is_variance = false;
};
[[nodiscard]] std::span<const PositionErrorNames> position_error_names();

/// The name of the minor axis that belongs to that of a major axis; empty if there is none.
[[nodiscard]] std::string_view minor_axis_of(std::string_view major);

}  // namespace kastor::io::detail

#endif
