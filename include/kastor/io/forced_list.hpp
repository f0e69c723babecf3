// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_FORCED_LIST_HPP
#define KASTOR_IO_FORCED_LIST_HPP

#include <cstdint>
#include <kastor/forced.hpp>
#include <kastor/gaussian.hpp>
#include <kastor/io/source_list.hpp>
#include <kastor/io/table_params.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io {

/// Where the sources of a catalogue are in an image, and their shapes.
struct ForcedList {
  SourceList list;                        ///< the catalogue
  std::vector<ForcedPosition> positions;  ///< one for each row; their shapes are set if `beam` is
  std::vector<bool> has_beam_shape;       ///< one for each row: its shape is the beam's
  /// The beam at the reference pixel [pixel]; without one a circle of the median minor axis of the
  /// list; none if there are no shapes either, so that only apertures can be measured
  std::optional<PixelEllipse> beam;
  std::string shape_columns;       ///< "maj_axis, min_axis, pos_ang"; empty if none are used
  std::vector<std::string> notes;  ///< what to know of it: one sentence each
};

/// Reads a catalogue as `read_source_list()`, and places its sources in an image: by their
/// positions on the sky if the image has coordinates, else by those in pixels. Rows without a
/// position, or that the projection does not reach, are at NaN.
///
/// With `use_shapes` the columns of fitted shapes are read, by the names that Kastor, Selavy,
/// PyBDSF, Aegean, SExtractor and `kastor simulate sky` give them; a row whose axes are not numbers
/// above 0 has the shape of the beam, and so have all rows if there are no such columns. The beam
/// is that of the place in the image; in orthographic images (SIN) that of the reference pixel.
/// \throws kastor::Error as `read_source_list()`; if the list has no row; if its positions are on
/// the sky, and the image has no coordinates or others; if a row has no shape, and there is no beam
[[nodiscard]] ForcedList read_forced_list(const std::string& path, const TableParams& image,
                                          bool use_shapes = true);

}  // namespace kastor::io

#endif
