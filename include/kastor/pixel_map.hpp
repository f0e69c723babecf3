// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PIXEL_MAP_HPP
#define KASTOR_PIXEL_MAP_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// A node of a mesh over an image: a value, and second derivatives in units of 1 / cell^2. If all
/// derivatives are 0, the surface through the nodes is bilinear; with those of natural cubic
/// splines it is the bicubic surface of SExtractor. Aligned so that a device loads it in two
/// halves.
struct alignas(16) MeshNode {
  double value = 0;
  double d2x = 0;    ///< second derivative along x
  double d2y = 0;    ///< second derivative along y
  double d2x2y = 0;  ///< along both axes: the second derivative of d2y along x
};

/// A smooth surface over an image: a tensor product of cubic splines through the nodes of a mesh.
/// Node (j, i) is at the centre of cell (j, i), which is pixel (cell_height (j + 1/2) - 1/2,
/// cell_width (i + 1/2) - 1/2). Beyond the outermost nodes, the outermost cubic is continued.
template <class Exec>
struct MeshSurface {
  std::int64_t cell_height = 1;  ///< height of a cell [pixel]
  std::int64_t cell_width = 1;   ///< width of a cell [pixel]
  /// If set, never below half of the bilinear surface through the same nodes.
  bool positive = false;
  /// (rows, columns) of the mesh, at least one of each
  Kokkos::View<const MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space> nodes;
  /// Row of the image below the mesh that is row 0 of this map: not 0 if the map is that of a strip
  std::int64_t first_row = 0;

  /// The value at a pixel. Elementary arithmetic in a fixed order, so the bits are the same
  /// everywhere.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t y, std::int64_t x) const {
    const Place u = column(x);
    return between(row(y), u).at(u);
  }

  /// The position of a pixel along one axis: the two nodes next to it, and the distance from the
  /// first one in cells.
  struct Place {
    std::int64_t first = 0;   ///< node before the pixel
    std::int64_t second = 0;  ///< node after the pixel; the same one if there is only one
    /// 0 at the first node, 1 at the second; outside [0, 1] beyond the outermost nodes.
    double t = 0;
    Place() = default;
    /// For a pixel among `count` nodes that are `cell` pixels apart.
    KOKKOS_FORCEINLINE_FUNCTION Place(std::int64_t pixel, std::int64_t cell, std::int64_t count) {
      if (count < 2) return;
      const double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cell) - 0.5;
      first = static_cast<std::int64_t>(at < 0 ? 0 : at);
      first = first > count - 2 ? count - 2 : first;
      second = first + 1;
      t = at - static_cast<double>(first);
    }
    /// Linear between a and b; constant beyond them.
    [[nodiscard]] KOKKOS_FUNCTION double linear(double a, double b) const {
      const double s = t < 0 ? 0 : (t > 1 ? 1 : t);
      return (1 - s) * a + s * b;
    }
    /// The cubic through a and b with these second derivatives. With s = 1 - t it is s a + t b +
    /// ((s^3 - s) d2a + (t^3 - t) d2b) times the double nearest to 1/6.
    [[nodiscard]] KOKKOS_FUNCTION double cubic(double a, double b, double d2a, double d2b) const {
      const double s = 1 - t;
      constexpr double sixth = 1.0 / 6;  // a division would take as long as everything else
      return s * a + t * b + ((s * s * s - s) * d2a + (t * t * t - t) * d2b) * sixth;
    }
  };
  /// The position of row y of the map among the rows of nodes.
  [[nodiscard]] KOKKOS_FUNCTION Place row(std::int64_t y) const {
    return Place(first_row + y, cell_height, static_cast<std::int64_t>(nodes.extent(0)));
  }
  /// The position of column x of the map among the columns of nodes.
  [[nodiscard]] KOKKOS_FUNCTION Place column(std::int64_t x) const {
    return Place(x, cell_width, static_cast<std::int64_t>(nodes.extent(1)));
  }

  /// The surface along one row of pixels, between two neighbouring columns of nodes.
  struct Span {
    double left = 0;          ///< value at the left column
    double right = 0;         ///< value at the right column
    double left_d2 = 0;       ///< second derivative along x at the left column
    double right_d2 = 0;      ///< second derivative along x at the right column
    double left_linear = 0;   ///< bilinear surface at the left column, only if positive
    double right_linear = 0;  ///< bilinear surface at the right column, only if positive
    bool positive = false;    ///< see `MeshSurface::positive`

    /// The surface at position u along x.
    [[nodiscard]] KOKKOS_FUNCTION double at(const Place& u) const {
      const double smooth = u.cubic(left, right, left_d2, right_d2);
      if (!positive) return smooth;
      const double least = 0.5 * u.linear(left_linear, right_linear);
      return smooth > least ? smooth : least;
    }
  };
  /// The span at position v along y, between the two columns of nodes next to `u`.
  [[nodiscard]] KOKKOS_FUNCTION Span between(const Place& v, const Place& u) const {
    const MeshNode& a = nodes(v.first, u.first);
    const MeshNode& b = nodes(v.first, u.second);
    const MeshNode& c = nodes(v.second, u.first);
    const MeshNode& d = nodes(v.second, u.second);
    Span span;
    span.left = v.cubic(a.value, c.value, a.d2y, c.d2y);
    span.right = v.cubic(b.value, d.value, b.d2y, d.d2y);
    span.left_d2 = v.cubic(a.d2x, c.d2x, a.d2x2y, c.d2x2y);
    span.right_d2 = v.cubic(b.d2x, d.d2x, b.d2x2y, d.d2x2y);
    span.positive = positive;
    if (!positive) return span;
    span.left_linear = v.linear(a.value, c.value);
    span.right_linear = v.linear(b.value, d.value);
    return span;
  }
};

/// A number for every pixel of an image, evaluated where it is needed: a constant, an image of the
/// same shape, or a surface over a mesh. Shallow: the Views belong to whoever made them.
template <class Exec, Real T>
class PixelMap {
 public:
  PixelMap() = default;
  /// A map with the same number everywhere.
  PixelMap(double constant) : m_constant(constant) {}
  /// A map given by the pixels of an image.
  PixelMap(const ConstImage<T, Exec>& image) : m_kind(Kind::image), m_image(image) {}
  /// A map given by any View that keeps the layout contract.
  template <AnyView V>
  PixelMap(const V& image) : PixelMap(detail::as_const_image_of<T, Exec>(image)) {}
  /// A map given by a surface over a mesh.
  PixelMap(const MeshSurface<Exec>& surface) : m_kind(Kind::surface), m_surface(surface) {}

  /// The map of the strip of rows `first` to `first + count - 1`: row 0 is row `first` of this one.
  /// The values are the same to the last bit.
  [[nodiscard]] PixelMap rows(std::int64_t first, std::int64_t count) const {
    PixelMap strip = *this;
    if (m_kind == Kind::image)
      strip.m_image =
          Kokkos::subview(m_image, Kokkos::make_pair(first, first + count), Kokkos::ALL);
    if (m_kind == Kind::surface) strip.m_surface.first_row += first;
    return strip;
  }

  /// The value at a pixel; NaN where the image has NaN.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t y, std::int64_t x) const {
    if (m_kind == Kind::surface) return m_surface(y, x);
    return m_kind == Kind::image ? static_cast<double>(m_image(y, x)) : m_constant;
  }

  /// The three kinds of map.
  enum class Kind { constant, image, surface };
  /// The kind of this map.
  [[nodiscard]] KOKKOS_FUNCTION Kind kind() const { return m_kind; }
  /// The value of a constant map.
  [[nodiscard]] KOKKOS_FUNCTION double constant() const { return m_constant; }
  /// The image of an image map.
  [[nodiscard]] KOKKOS_FUNCTION const ConstImage<T, Exec>& image() const { return m_image; }
  /// The surface of a surface map.
  [[nodiscard]] KOKKOS_FUNCTION const MeshSurface<Exec>& surface() const { return m_surface; }

 private:
  Kind m_kind = Kind::constant;
  double m_constant = 0;
  ConstImage<T, Exec> m_image;
  MeshSurface<Exec> m_surface;
};

/// The background: the level of the sky and its noise, in the unit of the image.
template <class Exec, Real T>
struct Background {
  PixelMap<Exec, T> level;
  /// Standard deviation of the noise; pixels where it is not > 0 are never foreground.
  PixelMap<Exec, T> rms;

  /// The background of the strip of rows `first` to `first + count - 1`.
  [[nodiscard]] Background rows(std::int64_t first, std::int64_t count) const {
    return {level.rows(first, count), rms.rows(first, count)};
  }
};

}  // namespace kastor

#endif
