// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_SRC_IO_CATALOGUE_POSITION_VALUES_HPP
#define KASTOR_SRC_IO_CATALOGUE_POSITION_VALUES_HPP

#include <kastor/io/sky_frame.hpp>
#include <kastor/io/table_reader.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kastor::io::detail {

/// Positions on the sky, one per row; both NaN in rows without one.
struct SkyValues {
  std::vector<SkyPosition> positions;
  std::optional<SkyFrame> frame;  ///< none if nothing says it
  std::vector<std::string> notes;
};

/// The positions of two columns of the file, numbers or text. Galactic ones are converted to ICRS.
///
/// Text is sexagesimal, right ascension in hours unless its letters or its unit (d:m:s) say
/// degrees, or plain numbers as in columns of numbers. Numbers that are no position, such as -999,
/// count as none; text that is none is refused. \param named_frame  frame according to the names of
/// the columns \throws kastor::Error `FILE: ...` if a unit is not an angle, if a text is not a
/// position, or if the frame is ecliptic
[[nodiscard]] SkyValues sky_values(const TableFromFile& file, const TableColumn& first,
                                   const TableColumn& second, std::optional<SkyFrame> named_frame);

}  // namespace kastor::io::detail

#endif
