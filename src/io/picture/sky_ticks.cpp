// SPDX-License-Identifier: Apache-2.0
#include "io/picture/sky_ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace kastor::io::picture {
namespace {

constexpr std::int64_t k_second = 1'000'000;  // a second of time or of arc [unit]
constexpr std::int64_t k_minute = 60 * k_second;
constexpr std::int64_t k_whole = 60 * k_minute;  // an hour or a degree
// More ticks make no sense on a picture.
constexpr std::int64_t k_most_ticks = 1000;

constexpr std::array<std::int64_t, 8> k_sixtieths{1, 2, 5, 10, 15, 20, 30, 60};
constexpr std::array<std::int64_t, 5> k_hours{1, 2, 3, 6, 12};
constexpr std::array<std::int64_t, 9> k_degrees{1, 2, 5, 10, 15, 30, 45, 60, 90};

/// All steps of a sexagesimal scale, in ascending order.
std::vector<std::int64_t> sexagesimal_steps(bool hours) {
  std::vector<std::int64_t> steps;
  for (std::int64_t ten = 1; ten < k_second; ten *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) steps.push_back(ten * digit);
  }
  for (const std::int64_t unit : {k_second, k_minute}) {
    for (const auto each : k_sixtieths) {
      if (each < 60) steps.push_back(each * unit);
    }
  }
  if (hours) {
    for (const auto each : k_hours) steps.push_back(each * k_whole);
  } else {
    for (const auto each : k_degrees) steps.push_back(each * k_whole);
  }
  return steps;
}

/// 1, 2 and 5 times powers of ten of a degree, in units, as far as they are whole numbers of units.
std::vector<std::int64_t> decimal_steps() {
  std::vector<std::int64_t> steps;
  for (std::int64_t parts = 1'000'000; parts >= 10; parts /= 10) {
    for (const std::int64_t digit : {1, 2, 5}) steps.push_back(k_whole / parts * digit);
  }
  for (const auto each : k_degrees) steps.push_back(each * k_whole);
  return steps;
}

std::vector<std::int64_t> steps_of(AngleFormat format) {
  return format == AngleFormat::decimal ? decimal_steps()
                                        : sexagesimal_steps(format == AngleFormat::hours);
}

/// Number of decimals of seconds with which multiples of `step` are exact.
int second_decimals(std::int64_t step) {
  int decimals = 6;
  for (std::int64_t unit = 10; decimals > 0 && step % unit == 0; unit *= 10) --decimals;
  return decimals;
}

std::string sexagesimal(std::int64_t units, std::int64_t step, int whole_digits,
                        const std::array<const char*, 3>& signs) {
  std::string text = fmt::format("{:0{}}{}", units / k_whole, whole_digits, signs[0]);
  if (step % k_whole == 0) return text;
  text += fmt::format("{:02}{}", units / k_minute % 60, signs[1]);
  if (step % k_minute == 0) return text;
  text += fmt::format("{:02}", units / k_second % 60);
  if (step % k_second != 0) {
    text += fmt::format("{:06}", units % k_second)
                .substr(0, static_cast<std::size_t>(second_decimals(step)))
                .insert(0, ".");
  }
  return text + signs[2];
}

std::string decimal(std::int64_t units, std::int64_t step) {
  int decimals = 0;
  for (std::int64_t unit = k_whole; decimals < 6 && step % unit != 0; unit /= 10) ++decimals;
  return fmt::format("{:.{}f}\u00b0", static_cast<double>(units) / static_cast<double>(k_whole),
                     decimals);
}

/// The positions at which the edge crosses multiples of `step`.
std::vector<Tick> crossings(const EdgeCoordinate& edge, std::int64_t step) {
  std::vector<Tick> ticks;
  const double unit = units_per_degree(edge.format);
  const auto last = edge.degrees.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const double from = edge.degrees[i] * unit / static_cast<double>(step);
    const double to = edge.degrees[i + 1] * unit / static_cast<double>(step);
    if (!std::isfinite(from) || !std::isfinite(to) || from == to) continue;
    const double low = std::min(from, to);
    const double high = std::max(from, to);
    for (double index = std::ceil(low); index <= high; index += 1.0) {
      const double part = (index - from) / (to - from);
      // The end of a part is the beginning of the next one.
      if (part == 1.0 && i + 1 < last) continue;
      const double at = (static_cast<double>(i) + part) / static_cast<double>(last);
      ticks.push_back({at, angle_label(edge.format, static_cast<std::int64_t>(index) * step, step,
                                       edge.is_longitude)});
      if (static_cast<std::int64_t>(ticks.size()) > k_most_ticks) return ticks;
    }
  }
  return ticks;
}

}  // namespace

double units_per_degree(AngleFormat format) {
  return static_cast<double>(k_whole) / (format == AngleFormat::hours ? 15.0 : 1.0);
}

std::int64_t angle_step_of_at_least(AngleFormat format, double units) {
  const auto steps = steps_of(format);
  const auto found = std::find_if(steps.begin(), steps.end(), [units](std::int64_t step) {
    return static_cast<double>(step) >= units;
  });
  return found == steps.end() ? steps.back() : *found;
}

std::string angle_label(AngleFormat format, std::int64_t index, std::int64_t step,
                        bool is_longitude) {
  if (is_longitude) {
    const std::int64_t turn = (format == AngleFormat::hours ? 24 : 360) * k_whole;
    index = (index % turn + turn) % turn;
  }
  const std::string sign = index < 0 ? "\u2212" : is_longitude || index == 0 ? "" : "+";
  const std::int64_t size = std::abs(index);
  switch (format) {
    case AngleFormat::hours:
      return sexagesimal(size, step, 2, {"\u02b0", "\u1d50", "\u02e2"});
    case AngleFormat::degrees:
      return sign + sexagesimal(size, step, 2, {"\u00b0", "\u2032", "\u2033"});
    default:
      return sign + decimal(size, step);
  }
}

void unwrap(std::vector<double>& degrees) {
  double offset = 0.0;
  double before = std::numeric_limits<double>::quiet_NaN();
  for (double& each : degrees) {
    if (!std::isfinite(each)) continue;
    each += offset;
    if (each - before > 180.0) {
      each -= 360.0;
      offset -= 360.0;
    } else if (each - before < -180.0) {
      each += 360.0;
      offset += 360.0;
    }
    before = each;
  }
}

std::vector<Tick> edge_ticks(const EdgeCoordinate& edge,
                             const std::function<bool(const std::vector<Tick>&)>& fit) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double each : edge.degrees) {
    if (!std::isfinite(each)) continue;
    low = std::min(low, each);
    high = std::max(high, each);
  }
  if (!(low < high)) return {};
  const auto steps = steps_of(edge.format);
  const double least = (high - low) * units_per_degree(edge.format) / 20.0;
  std::vector<Tick> ticks;
  for (const std::int64_t step : steps) {
    if (static_cast<double>(step) < least) continue;
    auto coarser = crossings(edge, step);
    if (coarser.empty() && !ticks.empty()) return {ticks.front()};
    ticks = std::move(coarser);
    if (!ticks.empty() && fit(ticks)) return ticks;
  }
  return ticks;
}

}  // namespace kastor::io::picture
