// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_SKY_SEXAGESIMAL_TEXT_HPP
#define KASTOR_SRC_IO_SKY_SEXAGESIMAL_TEXT_HPP

#include <string>

namespace kastor::io::detail {

/// A right ascension [degree] as hours, minutes and seconds: "05:34:31.94". Rounded, below 24
/// hours. \param decimals  of the seconds, 0 to 9 \param angle  finite
[[nodiscard]] std::string hours_text(double angle, int decimals);

/// A declination [degree] as degrees, minutes and seconds, with its sign: "+22:00:52.2". Rounded.
/// \param separator  between the parts \param decimals  of the seconds, 0 to 9
/// \param angle  from -90 to 90
[[nodiscard]] std::string degrees_text(double angle, int decimals, char separator);

}  // namespace kastor::io::detail

#endif
