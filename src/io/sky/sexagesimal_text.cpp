// SPDX-License-Identifier: Apache-2.0
#include "io/sky/sexagesimal_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace kastor::io::detail {
namespace {

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// \param units  the last digits of the seconds as whole numbers, not negative
std::string sexagesimal_text(std::int64_t units, int decimals, char separator) {
  const std::int64_t second = power_of_ten(decimals);
  const std::int64_t seconds = units / second;
  auto text = fmt::format("{:02}{}{:02}{}{:02}", seconds / 3600, separator, seconds / 60 % 60,
                          separator, seconds % 60);
  if (decimals == 0) return text;
  return text + fmt::format(".{:0{}}", units % second, decimals);
}

}  // namespace

std::string hours_text(double angle, int decimals) {
  const std::int64_t second = power_of_ten(decimals);
  const std::int64_t day = 86'400 * second;
  const auto units = std::llround(angle * 240.0 * static_cast<double>(second)) % day;
  return sexagesimal_text(units < 0 ? units + day : units, decimals, ':');
}

std::string degrees_text(double angle, int decimals, char separator) {
  const auto units =
      std::llround(std::abs(angle) * 3600.0 * static_cast<double>(power_of_ten(decimals)));
  return (angle < 0 ? "-" : "+") + sexagesimal_text(units, decimals, separator);
}

}  // namespace kastor::io::detail
