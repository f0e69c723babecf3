// SPDX-License-Identifier: Apache-2.0
#include "find/island_catalogues.hpp"

#include <string>
#include <utility>
#include <vector>

#include "cli/report/format.hpp"
#include "cli/run/errors.hpp"

namespace kastor::cli {
namespace {

/// Nothing if no cell was found.
std::string large_source_note(const BackgroundSummary& mesh, bool has_background) {
  if (mesh.source_cells == 0) return "";
  if (mesh.masks_sources) {
    return fmt::format(
        "{} of {} mesh cells are covered by sources larger than a cell; the {} there is "
        "interpolated from the cells around",
        mesh.source_cells, mesh.cells, has_background ? "noise" : "background");
  }
  return fmt::format(
      "{} of {} mesh cells with usable pixels seem to be covered by sources larger than a cell; "
      "that leaves too few to interpolate from, so all count as sky: try a larger --cell",
      mesh.source_cells, mesh.cells - mesh.filled);
}

/// \param where           before each note
/// \param uses_rms        whether the noise that is used is that of the mesh
/// \param has_background  whether the level that is used is not that of the mesh
void add_mesh_notes(const BackgroundSummary& mesh, const std::string& where, bool uses_rms,
                    bool has_background, std::vector<std::string>& notes) {
  if (uses_rms && !(mesh.rms > 0)) {
    notes.push_back(where +
                    "the noise is 0 at more than half of the mesh nodes, and no pixel with a noise "
                    "of 0 can be in an island");
  }
  if (const auto note = large_source_note(mesh, has_background); !note.empty())
    notes.push_back(where + note);
}

/// A gain in the header that the errors do without; empty if there is none.
std::string gain_note(const io::FitsImage& image, const IslandOptions& options) {
  if (options.preset != Preset::sextractor || options.photometry.gain) return "";
  for (const char* key : {"GAIN    =", "EGAIN   ="}) {
    for (const std::string& card : image.header_cards) {
      if (!card.starts_with(key)) continue;
      const auto value = card.substr(9, card.find('/', 9) - 9);
      const auto first = value.find_first_not_of(' ');
      if (first == std::string::npos) continue;
      const std::string name = card.substr(0, card.find(' '));
      return one_line(fmt::format(
          "the header has {} = {}, which is not used: the errors are without the photon noise of "
          "the sources; --gain G adds it",
          name, value.substr(first, value.find_last_not_of(' ') - first + 1)));
    }
  }
  return "";
}

/// Puts the column `parent_id` behind the first one.
void add_parents(std::span<const std::int64_t> parents, io::Table& table) {
  if (parents.empty()) return;
  io::TableColumn column;
  column.name = "parent_id";
  column.ucd = "meta.id.parent";
  column.description = "Number of the island that this is a part of, from 1";
  column.values = std::vector<std::int64_t>(parents.begin(), parents.end());
  table.columns.insert(table.columns.begin() + 1, std::move(column));
}

}  // namespace

io::TableParams table_params_of(const io::FitsImage& image, const FindOptions& options,
                                const OnTheSky& sky, const DetectionSummary& detection) {
  io::TableParams params;
  params.wcs = sky.wcs ? &*sky.wcs : nullptr;
  params.beam = sky.beam;
  params.frequency = sky.frequency.value_or(0);
  params.unit = image.hdu.unit;
  params.nx = image.nx;
  params.ny = image.ny;
  params.flood_snr = options.islands.find.flood * detection.scale();
  params.sums_of_pixels = options.islands.preset == Preset::sextractor;
  return params;
}

void add_noise_cards(const NoiseUsed& noise, io::Table& table) {
  table.cards.push_back({"NOISEKIN", std::string(name_of(noise.kind)), "--noise of kastor find"});
  table.cards.push_back({"NOISEPIX", noise.pixels, "[pixel] area of the noise's autocorrelation"});
}

io::IslandTable island_table_of(const io::FitsImage& image, const FindOptions& options,
                                const OnTheSky& sky, const Islands& islands,
                                const Photometry& photometry,
                                const std::optional<BackgroundSummary>& mesh,
                                const DetectionSummary& detection, const NoiseUsed& noise) {
  io::IslandTableParams params;
  static_cast<io::TableParams&>(params) = table_params_of(image, options, sky, detection);
  params.filtered_noise = detection.scale();
  params.kron = photometry.kron;
  params.weights = photometry.weights;
  params.gain = options.islands.photometry.gain.value_or(0);
  params.zero_point = options.islands.photometry.zero_point;
  if (noise.is_in_beams) {
    params.noise_beams = noise.kind == AssumedNoise::condon ? 2 : 1;
  } else {
    params.noise_pixels = noise.pixels;
  }
  auto table = io::island_table(islands, params);
  add_parents(photometry.parents, table.table);
  add_noise_cards(noise, table.table);
  if (!noise.note.empty()) table.notes.push_back(noise.note);
  if (mesh) {
    add_mesh_notes(*mesh, "", !options.islands.rms, options.islands.background.has_value(),
                   table.notes);
  }
  if (detection.mesh)
    add_mesh_notes(*detection.mesh, "in the detection image ", true, false, table.notes);
  table.notes.insert(table.notes.end(), sky.notes.begin(), sky.notes.end());
  if (auto note = gain_note(image, options.islands); !note.empty())
    table.notes.push_back(std::move(note));
  if (!sky.wcs) table.notes.push_back("there are no sky columns: " + sky.why_no_wcs);
  return table;
}

}  // namespace kastor::cli
