// SPDX-License-Identifier: Apache-2.0
#include "find/island_catalogues.hpp"

#include <kastor/io/island_regions.hpp>
#include <string>
#include <utility>

#include "cli/report/format.hpp"

namespace kastor::cli {
namespace {

/// Nothing if no cell was found.
std::string large_source_note(const BackgroundSummary& mesh) {
  if (mesh.source_cells == 0) return "";
  if (mesh.masks_sources) {
    return fmt::format(
        "{} of {} mesh cells are covered by sources larger than a cell; the background there is "
        "interpolated from the cells around",
        mesh.source_cells, mesh.cells);
  }
  return fmt::format(
      "{} of {} mesh cells with usable pixels seem to be covered by sources larger than a cell; "
      "that "
      "leaves too few to interpolate from, so all count as sky: try a larger --cell",
      mesh.source_cells, mesh.cells - mesh.filled);
}

}  // namespace

io::IslandTable island_table_of(const io::FitsImage& image, const FindOptions& options,
                                const OnTheSky& sky, const Islands& islands,
                                const std::optional<BackgroundSummary>& mesh) {
  io::IslandTableParams params;
  params.wcs = sky.wcs ? &*sky.wcs : nullptr;
  params.beam = sky.beam;
  params.frequency = sky.frequency.value_or(0);
  params.unit = image.hdu.unit;
  params.nx = image.nx;
  params.ny = image.ny;
  params.flood_snr = options.islands.find.flood;
  auto table = io::island_table(islands, params);
  if (mesh && !options.islands.rms && !(mesh->rms > 0))
    table.notes.emplace_back(
        "the noise is 0 at more than half of the mesh nodes, and no pixel with a noise of 0 can be "
        "in an island");
  if (mesh) {
    if (auto note = large_source_note(*mesh); !note.empty()) table.notes.push_back(std::move(note));
  }
  table.notes.insert(table.notes.end(), sky.notes.begin(), sky.notes.end());
  if (!sky.wcs) table.notes.push_back("there are no sky columns: " + sky.why_no_wcs);
  return table;
}

void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::IslandTable& table,
                      const Islands& islands, const io::Provenance& provenance) {
  for (const auto& [path, format] : catalogues) {
    if (const auto* regions = std::get_if<io::RegionFormat>(&format)) {
      const auto shown = io::island_regions(islands, table.table);
      io::write_regions(path, *regions, shown.regions, shown.frame, provenance);
    } else {
      io::write_table(path, std::get<io::TableFormat>(format), table.table, provenance);
    }
  }
}

}  // namespace kastor::cli
