// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <kastor/error.hpp>
#include <kastor/io/forced_list.hpp>
#include <kastor/io/robust.hpp>
#include <numbers>
#include <utility>

#include "io/catalogue/image_scales.hpp"
#include "io/catalogue/pixel_places.hpp"
#include "io/catalogue/size_columns.hpp"
#include "io/catalogue/source_columns.hpp"
#include "io/catalogue/source_units.hpp"
#include "io/sky/sky_geometry.hpp"
#include "io/table/table_numbers.hpp"
#include "io/text.hpp"

namespace kastor::io {
namespace {

/// Axes and angles as in the file.
struct ListedShapes {
  detail::ShapeColumns columns;
  std::string names;
  std::vector<double> major, minor, angle;
  double degrees = 0;  ///< per unit of the axes; 0: they are in pixels
};

/// The shapes in the table that `read_source_list()` reads; none if it has no such columns.
std::optional<ListedShapes> read_shapes(const std::string& path) {
  std::optional<ListedShapes> shapes;
  const auto choose = [&](const std::vector<TableColumn>& heads) -> std::vector<ColumnRequest> {
    detail::SourceColumns positions;
    try {
      positions = detail::recognise_columns(heads, {});
    } catch (const Error&) {
      return {};
    }
    if (!positions.has_positions()) return {};
    const detail::ColumnFinder finder(heads);
    const auto found = detail::find_shape_columns(finder, !positions.of(SourceQuantity::ra));
    if (!found) return {{0, ColumnRequest::As::text}};  // another table is not to be tried
    shapes.emplace();
    shapes->columns = *found;
    shapes->names = fmt::format("{}, {}, {}", detail::one_line(finder.at(found->major).name),
                                detail::one_line(finder.at(found->minor).name),
                                detail::one_line(finder.at(found->angle).name));
    return {{found->major, ColumnRequest::As::number},
            {found->minor, ColumnRequest::As::number},
            {found->angle, ColumnRequest::As::number}};
  };
  const auto file = read_table(path, choose);
  if (!file || !shapes) return std::nullopt;
  const auto numbers = [&](std::size_t i) {
    return std::get<std::vector<double>>(file->table.columns[i].values);
  };
  shapes->major = numbers(0);
  shapes->minor = numbers(1);
  shapes->angle = numbers(2);
  const std::string of_angle(detail::without_blanks(file->table.columns[2].unit));
  if (const auto factor = detail::degrees_per(of_angle); factor && !of_angle.empty())
    for (double& each : shapes->angle) each *= *factor;
  if (detail::is_pixel_unit(shapes->columns.unit)) return shapes;
  const auto degrees = detail::degrees_per(shapes->columns.unit);
  if (!degrees || detail::is_hours(shapes->columns.unit)) return std::nullopt;
  shapes->degrees = *degrees;
  return shapes;
}

PixelEllipse ellipse_in_pixels(const detail::Symmetric& moments) {
  const auto fwhm = detail::ellipse_fwhm(moments);
  return {fwhm.major, fwhm.minor, fwhm.angle * std::numbers::pi / 180};
}

bool is_shape(const PixelEllipse& shape) {
  return shape.minor > 0 && std::isfinite(shape.major) && std::isfinite(shape.angle);
}

/// The shape of a row [pixel]; none if it has none.
std::optional<PixelEllipse> shape_of_row(const ListedShapes& shapes, std::size_t row,
                                         const detail::Jacobian* local) {
  double major = shapes.major[row] * shapes.columns.to_fwhm;
  // The truth of a simulated sky has 0 for the minor axis of a circle.
  double minor = shapes.minor[row] == 0 && !shapes.columns.is_on_sky
                     ? major
                     : shapes.minor[row] * shapes.columns.to_fwhm;
  double angle = shapes.angle[row];
  if (!(major > 0) || !(minor > 0) || !std::isfinite(major) || !std::isfinite(minor))
    return std::nullopt;
  if (major == minor && !std::isfinite(angle)) angle = 0;
  if (!std::isfinite(angle)) return std::nullopt;
  if (minor > major) {
    std::swap(major, minor);
    angle += 90;
  }
  angle = std::fmod(std::fmod(angle, 180.0) + 180.0, 180.0);
  PixelEllipse shape{major, minor, angle * std::numbers::pi / 180};
  if (shapes.degrees > 0) {
    if (local == nullptr) return std::nullopt;
    shape = ellipse_in_pixels(local->to_pixels(
        detail::moments_on_sky({major * shapes.degrees, minor * shapes.degrees, angle})));
  } else if (shapes.columns.is_on_sky) {
    return std::nullopt;  // pixels, but an angle from north
  }
  return is_shape(shape) ? std::optional(shape) : std::nullopt;
}

class ShapeMaker {
 public:
  ShapeMaker(ForcedList& list, const TableParams& image) : m_list(list), m_beam(image) {
    if (image.wcs == nullptr) return;
    std::vector<PixelPosition> places;
    for (const auto& each : list.positions) places.push_back({each.x, each.y});
    m_skies = detail::sky_around(*image.wcs, std::move(places));
    const PixelPosition reference = image.wcs->reference_pixel();
    m_reference = detail::local_sky(*image.wcs, std::span(&reference, 1))[0].jacobian;
    if (const auto beam = ellipse_in_pixels(m_beam.moments(m_reference)); is_shape(beam))
      list.beam = beam;
  }

  void make(const std::optional<ListedShapes>& shapes) {
    if (!m_list.beam && !shapes) return;
    std::vector<double> minors;
    for (std::size_t i = 0; i < m_list.positions.size(); ++i) {
      const auto* local = m_skies.empty() ? nullptr : &m_skies[i].jacobian;
      auto shape = shapes ? shape_of_row(*shapes, i, local) : std::nullopt;
      m_list.has_beam_shape[i] = !shape.has_value();
      if (shape) minors.push_back(shape->minor);
      m_list.positions[i].shape = shape ? shape : beam_at(local);
    }
    if (!shapes) return;
    m_list.shape_columns = shapes->names;
    if (!m_list.beam) use_without_beam(minors);
  }

 private:
  [[nodiscard]] std::optional<PixelEllipse> beam_at(const detail::Jacobian* local) const {
    if (local == nullptr || !m_list.beam) return m_list.beam;
    const auto beam = ellipse_in_pixels(m_beam.moments(*local));
    return is_shape(beam) ? beam : *m_list.beam;
  }
  void use_without_beam(std::vector<double> minors) {
    for (std::size_t i = 0; i < m_list.positions.size(); ++i) {
      if (m_list.positions[i].shape) continue;
      throw Error(fmt::format(
          "{}: row {} has no size in {}, and the image no beam in pixels; expected sizes in all "
          "rows, or a beam (--beam) and coordinates",
          detail::one_line(m_list.list.path), i + 1, m_list.shape_columns));
    }
    const double width = median_of(std::move(minors));
    m_list.beam = PixelEllipse{width, width, 0};
  }

  ForcedList& m_list;
  detail::BeamPixels m_beam;
  std::vector<detail::LocalSky> m_skies;
  detail::Jacobian m_reference = {};
};

}  // namespace

ForcedList read_forced_list(const std::string& path, const TableParams& image, bool use_shapes) {
  ForcedList list;
  list.list = read_source_list(path);
  if (list.list.sources.empty()) {
    throw Error(detail::one_line(path) + ": the list has no row; expected one at least");
  }
  list.notes = list.list.notes;
  for (const auto& place : detail::pixel_places(list.list, image.wcs))
    list.positions.push_back({place.x, place.y, std::nullopt});
  list.has_beam_shape.assign(list.positions.size(), true);
  ShapeMaker(list, image).make(use_shapes ? read_shapes(path) : std::nullopt);
  return list;
}

}  // namespace kastor::io
