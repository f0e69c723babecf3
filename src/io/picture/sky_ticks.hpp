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

/// Angles are counted in whole units, so that ticks and labels are exact: of hours the microsecond
/// of time, else the microarcsecond.
[[nodiscard]] double units_per_degree(AngleFormat format);

/// A round step for this way of writing [unit].
[[nodiscard]] std::int64_t angle_step_of_at_least(AngleFormat format, double units);

/// \param index  a whole multiple of `step` [unit]; hours and longitudes are taken modulo a turn
/// \param step   decides which fields are written
[[nodiscard]] std::string angle_label(AngleFormat format, std::int64_t index, std::int64_t step,
                                      bool is_longitude);

/// One coordinate along the edge of a picture.
struct EdgeCoordinate {
  AngleFormat format = AngleFormat::degrees;
  bool is_longitude = false;
  /// At equal distances along the edge [degree]; NaN where it is not defined. A longitude goes on
  /// beyond 360 and below 0 where the edge crosses the meridian (`unwrap()`).
  std::vector<double> degrees;
};

/// Makes a longitude along an edge continuous.
void unwrap(std::vector<double>& degrees);

/// Where the edge crosses whole multiples of a step: the smallest one whose labels `fit`, given
/// ticks whose `at` run from 0 to 1 along the edge.
[[nodiscard]] std::vector<Tick> edge_ticks(
    const EdgeCoordinate& edge, const std::function<bool(const std::vector<Tick>&)>& fit);

}  // namespace kastor::io::picture

#endif
