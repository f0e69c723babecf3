// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_TICKS_HPP
#define KASTOR_SRC_IO_PICTURE_TICKS_HPP

#include <functional>
#include <string>
#include <vector>

namespace kastor::io::picture {

/// A mark on an axis and its number. `at` is in the unit of whoever asked.
struct Tick {
  double at;
  std::string label;
};

/// mantissa x 10^exponent, the mantissa 1, 2 or 5.
struct Step {
  int mantissa = 1;
  int exponent = 0;

  [[nodiscard]] double value() const;
  [[nodiscard]] Step next() const;  ///< the next larger one
};

/// The smallest step of at least `least`, which is above 0.
[[nodiscard]] Step step_of_at_least(double least);

/// The whole multiples of the step from `low` to `high`, at most 10000; `decimals` as needed.
[[nodiscard]] std::vector<Tick> multiples(const Step& step, double low, double high);

/// Ticks of a scale that need not be linear.
struct ScaleTicks {
  std::vector<Tick> ticks;  ///< `at` in the values of the scale
  int exponent = 0;         ///< the labels are values / 10^exponent
};

/// Ticks from `low` to `high` at round numbers, as dense as the scale leaves room for: starting
/// from multiples of a power of ten, an interval is divided, again and again, where all of its
/// parts are at least `spacing` long. `position` is that of a value on the scale [pixel], rising
/// with it.
[[nodiscard]] ScaleTicks scale_ticks(double low, double high,
                                     const std::function<double(double)>& position, double spacing);

/// A number with so many digits behind the point, a true minus sign before it where it is negative.
[[nodiscard]] std::string number_label(double value, int decimals);

/// The digits of an exponent as superscripts, UTF-8.
[[nodiscard]] std::string superscript(int number);

}  // namespace kastor::io::picture

#endif
