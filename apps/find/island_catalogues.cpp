// SPDX-License-Identifier: Apache-2.0
#include "find/island_catalogues.hpp"

#include <kastor/io/island_regions.hpp>

namespace kastor::cli {

io::IslandTable island_table_of(const io::FitsImage& image, const FindOptions& options,
                                const OnTheSky& sky, const Islands& islands,
                                const std::optional<BackgroundSummary>& mesh,
                                const NoiseUsed& noise) {
  io::IslandTableParams params;
  params.wcs = sky.wcs ? &*sky.wcs : nullptr;
  params.beam = sky.beam;
  params.frequency = sky.frequency.value_or(0);
  params.unit = image.hdu.unit;
  params.nx = image.nx;
  params.ny = image.ny;
  params.flood_snr = options.islands.find.flood;
  if (noise.is_in_beams) {
    params.noise_beams = noise.kind == AssumedNoise::condon ? 2 : 1;
  } else {
    params.noise_pixels = noise.pixels;
  }
  auto table = io::island_table(islands, params);
  table.table.cards.push_back(
      {"NOISEKIN", std::string(name_of(noise.kind)), "--noise of kastor find"});
  table.table.cards.push_back(
      {"NOISEPIX", noise.pixels, "[pixel] area of the noise's autocorrelation"});
  if (!noise.note.empty()) table.notes.push_back(noise.note);
  if (mesh && !options.islands.rms && !(mesh->rms > 0))
    table.notes.emplace_back(
        "the noise is 0 at more than half of the mesh nodes, and no pixel with a noise of 0 can be "
        "in an island");
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
