// SPDX-License-Identifier: Apache-2.0
#include "io/picture/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <numbers>

#include "io/picture/sky_ticks.hpp"

namespace kastor::io::picture {
namespace {

// Distance between two ticks of a vertical axis, in text heights.
constexpr double k_vertical_spacing = 3.5;
// Gap between two labels of a horizontal axis, in text heights.
constexpr double k_label_gap = 2.0;
// Edges of the image are examined in parts of about this many picture pixels.
constexpr int k_edge_part = 2;

enum class Edge { bottom, left };

/// Whether the labels of a horizontal (bottom) or vertical (left) axis do not overlap. `at` of the
/// ticks is in picture pixels, in any order.
bool keep_clear(const std::vector<Tick>& ticks, Edge edge, const Font& font) {
  std::vector<std::pair<double, double>> spans;  // from, to
  for (const Tick& tick : ticks) {
    const double half = edge == Edge::left
                            ? k_vertical_spacing * font.pixels() / 2.0
                            : (font.render(tick.label).width + k_label_gap * font.pixels()) / 2.0;
    spans.emplace_back(tick.at - half, tick.at + half);
  }
  std::sort(spans.begin(), spans.end());
  for (std::size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) return false;
  }
  return true;
}

/// Ticks at whole pixels from `low` to `high`; `place` converts them to picture pixels.
template <class Place>
std::vector<Tick> pixel_ticks(double low, double high, Edge edge, const Font& font, Place&& place) {
  Step step = step_of_at_least(std::max(1.0, (high - low) / 50.0));
  for (;; step = step.next()) {
    auto ticks = multiples(step, low, high);
    for (Tick& tick : ticks) tick.at = place(tick.at);
    if (keep_clear(ticks, edge, font)) return ticks;
  }
}

// ---------------------------------------------------------------------------------- sky

struct EdgeSky {
  EdgeCoordinate longitude;
  EdgeCoordinate latitude;
  double longitude_change = 0;  // along the edge, on the sky [degree]
  double latitude_change = 0;
};

EdgeSky sky_along(const Geometry& geometry, Edge edge, const Wcs& wcs) {
  const int length = edge == Edge::bottom ? geometry.width() : geometry.height();
  const int parts = std::max(16, length / k_edge_part);
  std::vector<PixelPosition> positions;
  for (int i = 0; i <= parts; ++i) {
    const double at = static_cast<double>(length) * i / parts;
    positions.push_back(edge == Edge::bottom ? geometry.image_position(at, geometry.height())
                                             : geometry.image_position(0.0, at));
  }
  EdgeSky result;
  result.longitude.is_longitude = true;
  for (const auto& [longitude, latitude] : wcs.to_sky(positions)) {
    result.longitude.degrees.push_back(longitude);
    result.latitude.degrees.push_back(latitude);
  }
  unwrap(result.longitude.degrees);
  for (std::size_t i = 1; i < positions.size(); ++i) {
    const double latitude = result.latitude.degrees[i];
    const double step = std::abs(result.longitude.degrees[i] - result.longitude.degrees[i - 1]);
    if (!std::isfinite(step)) continue;
    result.longitude_change += step * std::cos(latitude * std::numbers::pi / 180.0);
    result.latitude_change += std::abs(latitude - result.latitude.degrees[i - 1]);
  }
  return result;
}

Axis sky_axis(const Geometry& geometry, Edge edge, const Font& font, EdgeCoordinate coordinate,
              const Wcs& wcs) {
  const bool equatorial = wcs.system() == SkySystem::equatorial;
  coordinate.format = !equatorial               ? AngleFormat::decimal
                      : coordinate.is_longitude ? AngleFormat::hours
                                                : AngleFormat::degrees;
  const double length = edge == Edge::bottom ? geometry.width() : geometry.height();
  const auto in_pixels = [&](std::vector<Tick> ticks) {
    for (Tick& tick : ticks) tick.at *= length;
    return ticks;
  };
  auto ticks = in_pixels(edge_ticks(coordinate, [&](const std::vector<Tick>& candidates) {
    return keep_clear(in_pixels(candidates), edge, font);
  }));
  if (ticks.empty()) {
    throw Error(fmt::format(
        "there are no sky coordinates along the {} edge; expected some, or axes in pixels",
        edge == Edge::bottom ? "lower" : "left"));
  }

  std::string title;
  switch (wcs.system()) {
    case SkySystem::equatorial:
      title = coordinate.is_longitude ? "Right ascension" : "Declination";
      break;
    case SkySystem::galactic:
      title = coordinate.is_longitude ? "Galactic longitude" : "Galactic latitude";
      break;
    case SkySystem::ecliptic:
      title = coordinate.is_longitude ? "Ecliptic longitude" : "Ecliptic latitude";
      break;
    case SkySystem::other:
      title = coordinate.is_longitude ? "Longitude" : "Latitude";
      break;
  }
  const std::string frame = wcs.frame();
  return {title + (frame.empty() ? "" : " (" + frame + ")"), std::move(ticks)};
}

}  // namespace

Axes pixel_axes(const Geometry& geometry, const Font& font) {
  const auto first = geometry.image_position(0.0, geometry.height());
  const auto last = geometry.image_position(geometry.width(), 0.0);
  const auto [left, right] = std::minmax(first.x, last.x);
  return {{"x [pixel]", pixel_ticks(left, right, Edge::bottom, font,
                                    [&](double x) { return geometry.x_of(x); })},
          {"y [pixel]", pixel_ticks(first.y, last.y, Edge::left, font,
                                    [&](double y) { return geometry.y_of(y); })}};
}

Axes sky_axes(const Geometry& geometry, const Font& font, const Wcs& wcs) {
  const EdgeSky bottom = sky_along(geometry, Edge::bottom, wcs);
  const EdgeSky left = sky_along(geometry, Edge::left, wcs);
  const bool upright = bottom.longitude_change + left.latitude_change >=
                       bottom.latitude_change + left.longitude_change;
  return {sky_axis(geometry, Edge::bottom, font, upright ? bottom.longitude : bottom.latitude, wcs),
          sky_axis(geometry, Edge::left, font, upright ? left.latitude : left.longitude, wcs)};
}

}  // namespace kastor::io::picture
