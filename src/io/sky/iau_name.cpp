// SPDX-License-Identifier: Apache-2.0
#include "io/sky/iau_name.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace kastor::io::detail {
namespace {

/// `value` in whole units, truncated towards 0. A value within a millionth of the next unit counts
/// as that unit: it is a round number that has gone through floating point.
std::int64_t truncated(double value, double units) {
  return static_cast<std::int64_t>(std::floor(std::abs(value) * units + 1e-6));
}

bool is_defined(const SkyPosition& at) {
  return std::isfinite(at.longitude) && std::isfinite(at.latitude);
}

}  // namespace

std::string equatorial_name(char equinox, const SkyPosition& at) {
  if (!is_defined(at)) return "";
  // Tenths of a second.
  const std::int64_t tenths = truncated(at.longitude, 36'000.0 / 15.0) % 864'000;
  const std::int64_t arcsec = truncated(at.latitude, 3600.0);
  return fmt::format("{}{:02}{:02}{:02}.{}{}{:02}{:02}{:02}", equinox, tenths / 36'000,
                     tenths / 600 % 60, tenths / 10 % 60, tenths % 10, at.latitude < 0 ? '-' : '+',
                     arcsec / 3600, arcsec / 60 % 60, arcsec % 60);
}

std::string galactic_name(const SkyPosition& at) {
  if (!is_defined(at)) return "";
  const std::int64_t l = truncated(at.longitude, 1000.0) % 360'000;
  const std::int64_t b = truncated(at.latitude, 1000.0);
  return fmt::format("G{:03}.{:03}{}{:02}.{:03}", l / 1000, l % 1000, at.latitude < 0 ? '-' : '+',
                     b / 1000, b % 1000);
}

}  // namespace kastor::io::detail
