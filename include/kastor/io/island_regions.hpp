// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_IO_ISLAND_REGIONS_HPP
#define KASTOR_IO_ISLAND_REGIONS_HPP

#include <kastor/catalogue.hpp>
#include <kastor/io/regions_writer.hpp>
#include <kastor/io/table.hpp>
#include <kastor/island.hpp>
#include <optional>
#include <vector>

namespace kastor::io {

/// Regions in the form that `write_regions()` takes.
struct ShownRegions {
  std::vector<Region> regions;    ///< one per island or source
  std::optional<SkyFrame> frame;  ///< frame of the regions; none if they are in pixels
};

/// The islands of an `island_table()` as ellipses with the axes of the table (full widths at half
/// maximum), labelled with their ids: on the sky if the table has right ascensions in a frame that
/// region files support, else in pixels. An island without a shape is a point; one without a centre
/// is shown at its peak.
[[nodiscard]] ShownRegions island_regions(const Islands& islands, const Table& table);

/// The components of a `component_table()` as ellipses, likewise, or the rows of a
/// `forced_table()`.
[[nodiscard]] ShownRegions component_regions(const Table& table);

/// The centres of a catalogue as points, labelled with their ids: on the sky if `wcs` is given and
/// has a frame that region files support, else in pixels. Sources without a centre are shown at
/// their peak.
[[nodiscard]] ShownRegions catalogue_regions(const Catalogue& catalogue, const Wcs* wcs);

}  // namespace kastor::io

#endif
