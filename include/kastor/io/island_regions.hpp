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

/// What `write_regions()` takes.
struct ShownRegions {
  std::vector<Region> regions;    ///< one an island
  std::optional<SkyFrame> frame;  ///< of the regions; none if they are in pixels
};

/// The islands of an `island_table()` as ellipses of its axes (full widths at half maximum), with
/// the number of the island: on the sky where the table has right ascensions in a frame that region
/// files know, else in pixels. An island without a shape is a point, one without a centre is at its
/// peak.
[[nodiscard]] ShownRegions island_regions(const Islands& islands, const Table& table);

/// The centres of a catalogue as points, with their numbers: on the sky if `wcs` is given and has a
/// frame that region files know, else in pixels. Sources without a centre are at their peak.
[[nodiscard]] ShownRegions catalogue_regions(const Catalogue& catalogue, const Wcs* wcs);

}  // namespace kastor::io

#endif
