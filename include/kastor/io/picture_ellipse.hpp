// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_PICTURE_ELLIPSE_HPP
#define KASTOR_IO_PICTURE_ELLIPSE_HPP

#include <cstdint>

namespace kastor::io {

/// An ellipse on the pixels of an image.
struct PictureEllipse {
  std::int64_t id;
  double x;  ///< centre [pixel]
  double y;
  double major;  ///< full width along the major axis [pixel]
  double minor;
  double angle;  ///< of the major axis, from +x towards +y [degree]
};

}  // namespace kastor::io

#endif
