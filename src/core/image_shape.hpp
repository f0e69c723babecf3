// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_CORE_IMAGE_SHAPE_HPP
#define KASTOR_CORE_IMAGE_SHAPE_HPP

#include <cstdint>
#include <kastor/error.hpp>
#include <kastor/image.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>
#include <kastor/threshold.hpp>
#include <string>

namespace kastor::core {

/// Refuses what does not have the shape of an image.
struct ImageShape {
  const char* function;  ///< that is called
  detail::Shape shape;   ///< of the image

  /// \param what  with its verb: "the region is"
  void expect(const std::string& what, std::int64_t ny, std::int64_t nx) const {
    const auto text = [](std::int64_t rows, std::int64_t columns) {
      return std::to_string(rows) + " x " + std::to_string(columns);
    };
    KASTOR_EXPECTS(function, ny == shape.ny && nx == shape.nx,
                   what + " " + text(ny, nx) + " pixels; expected " + text(shape.ny, shape.nx) +
                       ", as the image");
  }
  /// \param name  "the level"
  template <class Exec, Real T>
  void expect_map(const std::string& name, const PixelMap<Exec, T>& map) const {
    using Kind = typename PixelMap<Exec, T>::Kind;
    if (map.kind() == Kind::image) {
      const auto rows = detail::rows_of<T, Exec>(map.image());
      expect(name + " map is", rows.ny, rows.nx);
    }
    if (map.kind() == Kind::surface) {
      const MeshSurface<Exec>& surface = map.surface();
      KASTOR_EXPECTS(function, surface.nodes.size() > 0,
                     name + " map has no nodes; expected at least one");
      KASTOR_EXPECTS(function, surface.cell_height > 0 && surface.cell_width > 0,
                     name + " map has cells of " + std::to_string(surface.cell_height) + " x " +
                         std::to_string(surface.cell_width) + " pixels; expected at least one");
    }
  }
  /// \param of  what it is the background of, before the name of a map: "detection "
  template <class Exec, Real T>
  void expect_background(const Background<Exec, T>& background, const std::string& of = "") const {
    expect_map<Exec, T>("the " + of + "level", background.level);
    expect_map<Exec, T>("the " + of + "rms", background.rms);
  }
  /// A mask that is empty stands for all pixels.
  template <class Exec>
  void expect_region(const BitMask<Exec>& region) const {
    if (region.words.data() != nullptr) expect("the region is", region.ny, region.nx);
  }
  template <class Exec>
  void expect_labels(const RunLabels<Exec>& labels) const {
    expect("the labels are of", labels.ny, labels.nx);
  }
};

}  // namespace kastor::core

#endif
