// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_PIXEL_MAP_HPP
#define KASTOR_PIXEL_MAP_HPP

#include <cstdint>
#include <kastor/image.hpp>

namespace kastor {

/// A node of a mesh over an image: a value, and second derivatives per cell squared. With all
/// derivatives 0 the surface through the nodes is bilinear, with those of natural cubic splines it
/// is SExtractor's bicubic one. Aligned so that a device loads it in two halves.
struct alignas(16) MeshNode {
  double value = 0;
  double d2x = 0;    ///< along x
  double d2y = 0;    ///< along y
  double d2x2y = 0;  ///< along both: the second derivative along x of d2y
};

/// A smooth surface over an image: a tensor product of cubic splines through the nodes of a mesh.
/// Node (j, i) lies at the middle of cell (j, i): pixel (cell_height (j + 1/2) - 1/2, cell_width
/// (i + 1/2) - 1/2). Outside of the outermost nodes the outermost cubic goes on.
template <class Exec>
struct MeshSurface {
  std::int64_t cell_height = 1;  ///< [pixel]
  std::int64_t cell_width = 1;   ///< [pixel]
  bool positive = false;  ///< never below half of the bilinear surface through the same nodes
  /// (rows, columns) of the mesh, one or more of each
  Kokkos::View<const MeshNode**, Kokkos::LayoutRight, typename Exec::memory_space> nodes;

  /// By elementary arithmetic in a fixed order: the same bits everywhere.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t y, std::int64_t x) const {
    const Place u = column(x);
    return between(row(y), u).at(u);
  }

  /// Between which two nodes, and how far from the first, in cells.
  struct Place {
    std::int64_t first = 0;   ///< node on the near side
    std::int64_t second = 0;  ///< node on the far side; the same one where there is only one
    double t = 0;             ///< from 0 at the first to 1 at the second, beyond them at the edges
    Place() = default;
    /// Of a pixel among `count` nodes, one for `cell` pixels.
    KOKKOS_FORCEINLINE_FUNCTION Place(std::int64_t pixel, std::int64_t cell, std::int64_t count) {
      if (count < 2) return;
      const double at = (static_cast<double>(pixel) + 0.5) / static_cast<double>(cell) - 0.5;
      first = static_cast<std::int64_t>(at < 0 ? 0 : at);
      first = first > count - 2 ? count - 2 : first;
      second = first + 1;
      t = at - static_cast<double>(first);
    }
    /// Linear between a and b, constant beyond them.
    [[nodiscard]] KOKKOS_FUNCTION double linear(double a, double b) const {
      const double s = t < 0 ? 0 : (t > 1 ? 1 : t);
      return (1 - s) * a + s * b;
    }
    /// The cubic through a and b with these second derivatives: with s = 1 - t,
    /// s a + t b + ((s^3 - s) d2a + (t^3 - t) d2b) times the double nearest to 1/6.
    [[nodiscard]] KOKKOS_FUNCTION double cubic(double a, double b, double d2a, double d2b) const {
      const double s = 1 - t;
      constexpr double sixth = 1.0 / 6;  // a division would take as long as all the rest
      return s * a + t * b + ((s * s * s - s) * d2a + (t * t * t - t) * d2b) * sixth;
    }
  };
  /// The place of row y of the image among the rows of nodes.
  [[nodiscard]] KOKKOS_FUNCTION Place row(std::int64_t y) const {
    return Place(y, cell_height, static_cast<std::int64_t>(nodes.extent(0)));
  }
  /// The place of column x of the image among the columns of nodes.
  [[nodiscard]] KOKKOS_FUNCTION Place column(std::int64_t x) const {
    return Place(x, cell_width, static_cast<std::int64_t>(nodes.extent(1)));
  }

  /// The surface along one row, from one column of nodes to the next.
  struct Span {
    double left = 0;          ///< value there
    double right = 0;         ///< value there
    double left_d2 = 0;       ///< second derivative along x
    double right_d2 = 0;      ///< second derivative along x
    double left_linear = 0;   ///< of the bilinear surface, only if positive
    double right_linear = 0;  ///< of the bilinear surface, only if positive
    bool positive = false;    ///< as that of the surface

    /// The surface there.
    [[nodiscard]] KOKKOS_FUNCTION double at(const Place& u) const {
      const double smooth = u.cubic(left, right, left_d2, right_d2);
      if (!positive) return smooth;
      const double least = 0.5 * u.linear(left_linear, right_linear);
      return smooth > least ? smooth : least;
    }
  };
  /// Of the columns of nodes next to `u`.
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

/// A number for every pixel of an image, evaluated where it is needed: one constant, an image of
/// the same shape, or a surface over a mesh. Shallow: the Views belong to whoever made them.
template <class Exec, Real T>
class PixelMap {
 public:
  PixelMap() = default;
  /// The same number everywhere.
  PixelMap(double constant) : m_constant(constant) {}
  /// The pixels of an image.
  PixelMap(const ConstImage<T, Exec>& image) : m_kind(Kind::image), m_image(image) {}
  /// Any View that keeps the layout contract.
  template <AnyView V>
  PixelMap(const V& image) : PixelMap(detail::as_const_image_of<T, Exec>(image)) {}
  /// A surface over a mesh.
  PixelMap(const MeshSurface<Exec>& surface) : m_kind(Kind::surface), m_surface(surface) {}

  /// NaN where an image says so.
  [[nodiscard]] KOKKOS_FUNCTION double operator()(std::int64_t y, std::int64_t x) const {
    if (m_kind == Kind::surface) return m_surface(y, x);
    return m_kind == Kind::image ? static_cast<double>(m_image(y, x)) : m_constant;
  }

  /// Which of the three it is.
  enum class Kind { constant, image, surface };
  /// Which of the three it is.
  [[nodiscard]] KOKKOS_FUNCTION Kind kind() const { return m_kind; }
  /// Of a constant map.
  [[nodiscard]] KOKKOS_FUNCTION double constant() const { return m_constant; }
  /// Of a map that is an image.
  [[nodiscard]] KOKKOS_FUNCTION const ConstImage<T, Exec>& image() const { return m_image; }
  /// Of a map that is a surface.
  [[nodiscard]] KOKKOS_FUNCTION const MeshSurface<Exec>& surface() const { return m_surface; }

 private:
  Kind m_kind = Kind::constant;
  double m_constant = 0;
  ConstImage<T, Exec> m_image;
  MeshSurface<Exec> m_surface;
};

/// What is not a source: the level of the sky and its noise, in the unit of the image.
template <class Exec, Real T>
struct Background {
  PixelMap<Exec, T> level;
  PixelMap<Exec, T> rms;  ///< standard deviation; a pixel where it is not > 0 is never foreground
};

}  // namespace kastor

#endif
