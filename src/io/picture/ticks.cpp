// SPDX-License-Identifier: Apache-2.0
#include "io/picture/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>

namespace kastor::io::picture {
namespace {

constexpr int k_most_steps = 10000;
// Depth of repeated division; nothing that is visible on a picture needs more.
constexpr int k_deepest = 24;

int decimals_of(const Step& step) { return std::max(0, -step.exponent); }

/// index x step, rounded once.
double multiple(std::int64_t index, const Step& step) {
  const auto whole = static_cast<double>(index * step.mantissa);
  return step.exponent < 0 ? whole / std::pow(10.0, -step.exponent)
                           : whole * std::pow(10.0, step.exponent);
}

/// Ways to divide an interval of one step, the finest first: the step of the parts, and their ends
/// in units of that step.
using Ends = std::vector<std::int64_t>;
struct Division {
  Step part;
  Ends ends;
};

std::vector<Division> divisions(const Step& step, std::int64_t index) {
  const auto [mantissa, exponent] = step;
  std::vector<Division> ways;
  if (mantissa == 1) {
    ways = {{{2, exponent - 1}, {0, 1, 2, 3, 4, 5}}, {{5, exponent - 1}, {0, 1, 2}}};
  } else {
    ways = {{{1, exponent}, mantissa == 2 ? Ends{0, 1, 2} : Ends{0, 1, 2, 3, 4, 5}}};
  }
  if (index != 0 && index != -1) return ways;
  // Next to zero there may be room below but not above: 0, 2, 5, 10 or 0, 1, 2, 5.
  if (mantissa == 1) ways.insert(ways.begin() + 1, {{1, exponent - 1}, {0, 2, 5, 10}});
  if (mantissa == 5) ways.push_back({{1, exponent}, {0, 1, 2, 5}});
  if (index == 0) return ways;
  for (auto& [part, ends] : ways) {
    const std::int64_t last = ends.back();
    for (auto& end : ends) end = last - end;
    std::reverse(ends.begin(), ends.end());
  }
  return ways;
}

/// On a logarithmic scale, the interval next to zero is divided by this number of whole decades.
Division decades_below(const Step& step, int decades) {
  std::int64_t parts = step.mantissa;
  for (int i = 0; i < decades; ++i) parts *= 10;
  return {{1, step.exponent - decades}, {0, 1, parts}};
}

/// The step of `count` times this one, if its mantissa is 1, 2 or 5.
std::optional<Step> times(const Step& step, std::int64_t count) {
  const std::int64_t mantissa = step.mantissa * count;
  if (mantissa == 1 || mantissa == 2 || mantissa == 5)
    return Step{static_cast<int>(mantissa), step.exponent};
  return std::nullopt;
}

/// A possible tick of a scale: index x step.
struct Candidate {
  double value;
  int decimals_exponent;  // exponent of the step that found it
};

class Refinement {
 public:
  Refinement(double low, double high, const std::function<double(double)>& position, double spacing)
      : m_low(low), m_high(high), m_position(position), m_spacing(spacing) {}

  std::vector<Candidate> run() {
    const double range = m_high - m_low;
    const double largest = std::max(std::abs(m_low), std::abs(m_high));
    // More than 1e14 steps from zero, doubles cannot represent the multiples.
    if (!std::isfinite(range) || range < 1e-14 * largest) return {};
    Step step = step_of_at_least(range);
    while (step.mantissa != 1) step = step.next();
    if (!std::isfinite(step.value())) step = {1, 308};
    const auto first = static_cast<std::int64_t>(std::floor(m_low / step.value()));
    const auto last = static_cast<std::int64_t>(std::ceil(m_high / step.value()));
    for (std::int64_t i = first; i <= last; ++i) add(i, step);
    for (std::int64_t i = first; i < last; ++i) divide(i, step, 0);
    std::sort(m_found.begin(), m_found.end(),
              [](const Candidate& a, const Candidate& b) { return a.value < b.value; });
    return std::move(m_found);
  }

 private:
  [[nodiscard]] bool shown(double value) const { return value >= m_low && value <= m_high; }

  void add(std::int64_t index, const Step& step) {
    const double value = multiple(index, step);
    if (shown(value)) m_found.push_back({value, step.exponent});
  }

  /// Divides the interval from index x step to the next multiple.
  void divide(std::int64_t index, const Step& step, int depth) {
    if (depth > k_deepest || multiple(index + 1, step) <= m_low || multiple(index, step) >= m_high)
      return;
    for (const auto& way : divisions(step, index)) {
      if (fits(index, way)) return divide(index, way, depth);
    }
    for (int decades = step.mantissa == 1 ? 1 : 0; index == 0 && decades <= 17; ++decades) {
      const auto way = decades_below(step, decades);
      if (fits(index, way) && is_logarithmic(way)) return divide(index, way, depth);
    }
  }

  void divide(std::int64_t index, const Division& way, int depth) {
    const auto& [part, ends] = way;
    const std::int64_t first = index * ends.back();
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const std::int64_t begin = first + ends[i];
      if (i > 0) add(begin, part);
      const std::int64_t length = ends[i + 1] - ends[i];
      const auto inner = times(part, length);
      if (inner && begin % length == 0) divide(begin / length, *inner, depth + 1);
    }
  }

  /// Whether the geometric mean of two ticks is about midway between them.
  [[nodiscard]] bool is_logarithmic(const Division& way) const {
    const double from = multiple(way.ends[1], way.part);
    const double to = multiple(way.ends[2], way.part);
    if (!shown(from) || !shown(to)) return true;
    const double middle = m_position(std::sqrt(from) * std::sqrt(to));
    return middle - m_position(from) > 0.4 * (m_position(to) - m_position(from));
  }

  [[nodiscard]] bool fits(std::int64_t index, const Division& way) const {
    const std::int64_t first = index * way.ends.back();
    for (std::size_t i = 0; i + 1 < way.ends.size(); ++i) {
      const double from = multiple(first + way.ends[i], way.part);
      const double to = multiple(first + way.ends[i + 1], way.part);
      if (shown(from) && shown(to) && m_position(to) - m_position(from) < m_spacing) return false;
    }
    return true;
  }

  double m_low;
  double m_high;
  const std::function<double(double)>& m_position;
  double m_spacing;
  std::vector<Candidate> m_found;
};

}  // namespace

double Step::value() const {
  return exponent < 0 ? mantissa / std::pow(10.0, -exponent) : mantissa * std::pow(10.0, exponent);
}

Step Step::next() const {
  if (mantissa == 1) return {2, exponent};
  if (mantissa == 2) return {5, exponent};
  return {1, exponent + 1};
}

Step step_of_at_least(double least) {
  Step step{1, static_cast<int>(std::floor(std::log10(least))) - 1};
  while (step.value() < least) step = step.next();
  return step;
}

std::vector<Tick> multiples(const Step& step, double low, double high) {
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step.value());
  const double last = std::floor(high / step.value());
  if (!(last - first < k_most_steps)) return ticks;
  for (auto i = static_cast<std::int64_t>(first); i <= static_cast<std::int64_t>(last); ++i) {
    const double value = multiple(i, step);
    ticks.push_back({value, number_label(value, decimals_of(step))});
  }
  return ticks;
}

ScaleTicks scale_ticks(double low, double high, const std::function<double(double)>& position,
                       double spacing) {
  const auto found = Refinement(low, high, position, spacing).run();
  ScaleTicks result;
  double largest = 0.0;
  for (const auto& each : found) largest = std::max(largest, std::abs(each.value));
  if (largest >= 1e5 || (largest > 0.0 && largest < 1e-2)) {
    result.exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-12));
  }
  for (const auto& each : found) {
    const double shown = result.exponent < 0 ? each.value * std::pow(10.0, -result.exponent)
                                             : each.value / std::pow(10.0, result.exponent);
    const int decimals = std::max(0, result.exponent - each.decimals_exponent);
    result.ticks.push_back({each.value, number_label(shown, each.value == 0.0 ? 0 : decimals)});
  }
  return result;
}

std::string number_label(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", std::abs(value), decimals);
  const bool is_zero = text.find_first_not_of("0.") == std::string::npos;
  return value < 0.0 && !is_zero ? "\u2212" + text : text;
}

std::string superscript(int number) {
  constexpr std::array digits{"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                              "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text = number < 0 ? "\u207b" : "";
  for (const char c : std::to_string(std::abs(number)))
    text += digits[static_cast<std::size_t>(c - '0')];
  return text;
}

}  // namespace kastor::io::picture
