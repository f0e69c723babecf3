// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_PICTURE_SKY_TICKS_HPP
#define KASTOR_SRC_IO_PICTURE_SKY_TICKS_HPP

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/picture/ticks.hpp"

namespace kastor::io::picture {

/// How a coordinate is written.
enum class AngleFormat {
  hours,    ///< 22ʰ48ᵐ30ˢ
  degrees,  ///< −36°30′00″
  decimal,  ///< 0.25°
};

/// Angles are counted in integer units, so that ticks and labels are exact: microseconds of time
/// for hours, else microarcseconds.
[[nodiscard]] double units_per_degree(AngleFormat format);

/// The smallest round step of at least `units` for this format [unit].
[[nodiscard]] std::int64_t angle_step_of_at_least(AngleFormat format, double units);

/// \param index  an integer multiple of `step` [unit]; hours and longitudes are taken modulo a turn
/// \param step   decides which fields are written
[[nodiscard]] std::string angle_label(AngleFormat format, std::int64_t index, std::int64_t step,
                                      bool is_longitude);

/// One coordinate along an edge of a picture.
struct EdgeCoordinate {
  AngleFormat format = AngleFormat::degrees;
  bool is_longitude = false;
  /// Values at equal distances along the edge [degree]; NaN where the coordinate is not defined. A
  /// longitude continues above 360 and below 0 where the edge crosses the zero meridian
  /// (`unwrap()`).
  std::vector<double> degrees;
};

/// Makes a longitude along an edge continuous.
void unwrap(std::vector<double>& degrees);

/// The positions where the edge crosses multiples of a step: the smallest step whose labels `fit`,
/// a predicate on ticks whose `at` runs from 0 to 1 along the edge.
[[nodiscard]] std::vector<Tick> edge_ticks(
    const EdgeCoordinate& edge, const std::function<bool(const std::vector<Tick>&)>& fit);

}  // namespace kastor::io::picture

#endif
