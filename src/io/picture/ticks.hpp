// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_TICKS_HPP
#define KASTOR_SRC_IO_PICTURE_TICKS_HPP

#include <functional>
#include <string>
#include <vector>

namespace kastor::io::picture {

/// A mark on an axis and its label. `at` is in the unit of the caller.
struct Tick {
  double at;
  std::string label;
};

/// mantissa x 10^exponent, with mantissa 1, 2 or 5.
struct Step {
  int mantissa = 1;
  int exponent = 0;

  [[nodiscard]] double value() const;
  [[nodiscard]] Step next() const;  ///< the next larger step
};

/// The smallest step that is >= `least`, which must be > 0.
[[nodiscard]] Step step_of_at_least(double least);

/// The multiples of the step from `low` to `high`, with the decimals of the step; none if more
/// than 10000.
[[nodiscard]] std::vector<Tick> multiples(const Step& step, double low, double high);

/// Ticks of a scale that may be non-linear.
struct ScaleTicks {
  std::vector<Tick> ticks;  ///< `at` in values of the scale
  int exponent = 0;         ///< labels are values / 10^exponent
};

/// Ticks from `low` to `high` at round numbers, as dense as the scale has room for: starting from
/// multiples of a power of ten, an interval is divided repeatedly as long as all of its parts are
/// at least `spacing` long. `position` maps a value to its position on the scale [pixel] and
/// increases.
[[nodiscard]] ScaleTicks scale_ticks(double low, double high,
                                     const std::function<double(double)>& position, double spacing);

/// A number with this many decimals, and a true minus sign if it is negative.
[[nodiscard]] std::string number_label(double value, int decimals);

/// The digits of an exponent as superscripts, in UTF-8.
[[nodiscard]] std::string superscript(int number);

}  // namespace kastor::io::picture

#endif
