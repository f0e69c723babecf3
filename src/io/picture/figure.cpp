// SPDX-License-Identifier: Apache-2.0
#include "io/picture/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kastor/error.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "io/picture/axes.hpp"
#include "io/picture/marks.hpp"

namespace kastor::io::picture {
namespace {

/// Text size that suits an image of this size [picture pixel].
int text_size(const Geometry& geometry) {
  return std::clamp(std::max(geometry.width(), geometry.height()) / 55, 13, 96);
}

IntensityScale scale_of(const PictureParams& params) {
  return params.look == PictureLook::lesson ? IntensityScale::log : params.scale;
}

ColourMap colour_map_of(const PictureParams& params) {
  return params.look == PictureLook::lesson ? ColourMap::grey : params.colour_map;
}

/// Frame, axes and colour bar, arranged around the image, whose upper left corner is (0, 0).
class Layout {
 public:
  Layout(const Geometry& geometry, const Font& font)
      : m_font(font), m_image{0, 0, geometry.width(), geometry.height()}, m_bounds(m_image) {
    m_line = std::max(1, font.pixels() / 12);
    m_tick = std::max(4, font.pixels() / 3);
    add_frame(m_image);
  }

  void add_axes(const Axes& axes) {
    const int from = m_image.y1 + m_line + m_tick + m_font.pixels() / 4;
    for (const Tick& tick : axes.bottom.ticks) {
      const int x = line_at(tick.at, m_image.width());
      add_line({x, m_image.y1 + m_line, x + m_line, m_image.y1 + m_line + m_tick});
      add_text(m_font.render(tick.label), tick.at, 0.5, from, 0.0);
    }
    int left = m_image.x0;
    const int right = m_image.x0 - m_line - m_tick - m_font.pixels() / 3;
    for (const Tick& tick : axes.left.ticks) {
      const int y = line_at(tick.at, m_image.height());
      add_line({m_image.x0 - m_line - m_tick, y, m_image.x0 - m_line, y + m_line});
      left = std::min(left, add_text(m_font.render(tick.label), right, 1.0, tick.at, 0.5).x0);
    }
    add_text(m_font.render(axes.bottom.title), m_image.width() / 2.0, 0.5,
             from + 1.5 * m_font.pixels(), 0.0);
    add_text(m_font.render(axes.left.title).turned(), left - m_font.pixels() / 2.0, 1.0,
             m_image.height() / 2.0, 0.5);
  }

  void add_colour_bar(const Intensity& intensity, const std::string& unit) {
    const int height = std::max(m_image.height(), 10 * m_font.pixels());
    const int top = (m_image.height() - height) / 2;
    const int x = m_image.x1 + m_font.pixels() * 5 / 4;
    m_bar = Rectangle{x, top, x + m_font.pixels() * 5 / 4, top + height};
    add_frame(*m_bar);

    const double low = intensity.limits().low;
    const double high = intensity.limits().high;
    ScaleTicks marks;
    for (const double spacing : {2.4, 1.8, 1.3}) {  // a short bar may need closer ticks
      marks = scale_ticks(
          low, high, [&](double value) { return height * intensity.position(value); },
          spacing * m_font.pixels());
      if (marks.ticks.size() > 1) break;
    }
    int right = m_bar->x1;
    for (const Tick& tick : marks.ticks) {
      const double from_top = height * (1.0 - intensity.position(tick.at));
      const int y = top + line_at(from_top, height);
      add_line({m_bar->x1 + m_line, y, m_bar->x1 + m_line + m_tick, y + m_line});
      const int gap = m_font.pixels() / 3;
      right = std::max(right, add_text(m_font.render(tick.label), m_bar->x1 + m_line + m_tick + gap,
                                       0.0, top + from_top, 0.5)
                                  .x1);
    }
    std::string title = marks.exponent == 0 ? "" : "10" + superscript(marks.exponent);
    if (!unit.empty()) title += (title.empty() ? "" : " ") + unit;
    if (!title.empty()) {
      add_text(m_font.render(title).turned(), right + m_font.pixels() / 2.0, 0.0,
               top + height / 2.0, 0.5);
    }
  }

  /// Paints everything, and returns the position of the image.
  [[nodiscard]] std::pair<Canvas, Rectangle> paint(const std::array<Colour, 256>& colours) const {
    const int border = m_font.pixels() * 2 / 3;
    const int dx = border - m_bounds.x0;
    const int dy = border - m_bounds.y0;
    const auto moved = [&](const Rectangle& r) {
      return Rectangle{r.x0 + dx, r.y0 + dy, r.x1 + dx, r.y1 + dy};
    };
    Canvas canvas(m_bounds.width() + 2 * border, m_bounds.height() + 2 * border, k_white);
    for (const Rectangle& area : m_frames) canvas.frame(moved(area), m_line, k_black);
    for (const Rectangle& line : m_lines) canvas.fill(moved(line), k_black);
    for (const Text& text : m_texts)
      draw_text(canvas, text.image, text.x + dx, text.y + dy, k_black);
    if (m_bar) paint_bar(canvas, moved(*m_bar), colours);
    return {std::move(canvas), moved(m_image)};
  }

 private:
  struct Text {
    TextImage image;
    int x;
    int y;
  };

  /// The first pixel of a line at `at`, kept within an edge of this length.
  [[nodiscard]] int line_at(double at, int length) const {
    return std::clamp(static_cast<int>(std::lround(at - m_line / 2.0)), 0,
                      std::max(0, length - m_line));
  }

  void add_frame(const Rectangle& area) {
    m_frames.push_back(area);
    m_bounds.include({area.x0 - m_line, area.y0 - m_line, area.x1 + m_line, area.y1 + m_line});
  }

  void add_line(const Rectangle& line) {
    m_lines.push_back(line);
    m_bounds.include(line);
  }

  /// Puts the point (share_x, share_y) of the text (0: upper left, 1: lower right) at (x, y).
  Rectangle add_text(TextImage image, double x, double share_x, double y, double share_y) {
    const int x0 = static_cast<int>(std::lround(x - share_x * image.width));
    const int y0 = static_cast<int>(std::lround(y - share_y * image.height));
    const Rectangle area{x0, y0, x0 + image.width, y0 + image.height};
    m_bounds.include(area);
    m_texts.push_back({std::move(image), x0, y0});
    return area;
  }

  static void paint_bar(Canvas& canvas, const Rectangle& bar,
                        const std::array<Colour, 256>& colours) {
    for (int y = bar.y0; y < bar.y1; ++y) {
      const double t = (bar.y1 - y - 0.5) / bar.height();
      canvas.fill({bar.x0, y, bar.x1, y + 1}, colour_at(colours, t));
    }
  }

  const Font& m_font;
  Rectangle m_image;
  Rectangle m_bounds;
  int m_line;
  int m_tick;
  std::vector<Rectangle> m_frames;
  std::vector<Rectangle> m_lines;
  std::vector<Text> m_texts;
  std::optional<Rectangle> m_bar;
};

void paint_image(Canvas& canvas, const Rectangle& area, const FigureContent& content,
                 const Sampling& sampling, const Intensity& intensity, bool flip,
                 const std::array<Colour, 256>& colours) {
  const auto values = block_means(content.pixels, sampling);
  const int columns = sampling.width / sampling.zoom_x;
  const int rows = sampling.height / sampling.zoom_y;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const double value =
          values[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                 static_cast<std::size_t>(column)];
      const Colour colour =
          std::isfinite(value) ? colour_at(colours, intensity.position(value)) : k_blank;
      const int x = area.x0 + sampling.zoom_x * (flip ? columns - 1 - column : column);
      const int y = area.y1 - sampling.zoom_y * (row + 1);
      canvas.fill({x, y, x + sampling.zoom_x, y + sampling.zoom_y}, colour);
    }
  }
}

/// \param least  half width of the smallest mark [picture pixel]
std::vector<Mark> marks_of(const FigureContent& content, const Geometry& geometry, MarkShape shape,
                           double least) {
  std::vector<Mark> marks;
  for (const Source& source : content.sources)
    marks.push_back({source.id, outline_of(source, shape, geometry, least)});
  for (const PictureEllipse& ellipse : content.ellipses) {
    if (std::isfinite(ellipse.x) && std::isfinite(ellipse.y))
      marks.push_back({ellipse.id, outline_of(ellipse, geometry, least)});
  }
  return marks;
}

}  // namespace

Canvas draw_figure(const FigureContent& content, const PictureParams& params) {
  const Intensity intensity(scale_of(params), limits_of(content.pixels, params));
  const auto map = colour_map_of(params);
  const auto colours = colours_of(map);
  const auto [nx, ny] =
      std::visit([](const auto& grid) { return std::pair(grid.nx, grid.ny); }, content.pixels);
  const Sampling sampling = sampling_of(nx, ny, params.size);
  const Geometry geometry(sampling, params.flip);

  const bool framed = params.axes != PictureAxes::none;
  const int size = text_size(geometry);
  std::unique_ptr<Font> font;
  if (framed || params.labels) font = std::make_unique<Font>(params.font, size);

  Canvas canvas(0, 0, k_white);
  Rectangle area{0, 0, geometry.width(), geometry.height()};
  if (framed) {
    Layout layout(geometry, *font);
    KASTOR_EXPECTS("kastor::io::picture::draw_figure",
                   params.axes != PictureAxes::sky || content.wcs != nullptr,
                   "sky axes without coordinates; expected the coordinates of the image");
    layout.add_axes(params.axes == PictureAxes::sky ? sky_axes(geometry, *font, *content.wcs)
                                                    : pixel_axes(geometry, *font));
    layout.add_colour_bar(intensity, content.unit);
    std::tie(canvas, area) = layout.paint(colours);
  } else {
    canvas = Canvas(geometry.width(), geometry.height(), k_white);
  }
  paint_image(canvas, area, content, sampling, intensity, params.flip, colours);

  std::optional<Font> small;
  if (params.labels) small.emplace(params.font, std::max(11, size * 4 / 5));
  draw_marks(canvas, area, marks_of(content, geometry, params.marks, size * 0.4),
             {mark_colours(map), std::max(1.3, size / 12.0), small ? &*small : nullptr});
  return canvas;
}

}  // namespace kastor::io::picture
