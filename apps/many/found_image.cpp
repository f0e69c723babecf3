// SPDX-License-Identifier: Apache-2.0
#include "many/found_image.hpp"

#include <kastor/io/output_set.hpp>

#include "cli/island_catalogues.hpp"
#include "cli/island_report.hpp"
#include "cli/outputs.hpp"
#include "cli/report.hpp"

namespace kastor::cli {
namespace {

void fill(const FoundImage& image, const FindResult& found,
          const std::vector<StagedCatalogue>& staged, Outcome& outcome) {
  write_catalogues(staged, image.image, found.sources, find_provenance(image.image, image.options));
  outcome.sources = static_cast<std::int64_t>(found.sources.size());
  outcome.level = found.threshold;
  if (image.options.json) outcome.json = find_json(image.image, found);
}

void fill(const FoundImage& image, const IslandsAndMesh& found,
          const std::vector<StagedCatalogue>& staged, Outcome& outcome) {
  const Islands& islands = found.result.islands;
  outcome.sources = static_cast<std::int64_t>(islands.size());
  if (found.mesh) outcome.level = found.mesh->rms;
  if (staged.empty() && !image.options.json) return;
  const auto table = island_table_of(image.image, image.options, image.sky, islands, found.mesh);
  write_catalogues(staged, table, islands, find_provenance(image.image, image.options));
  if (image.options.json) {
    outcome.json = islands_json(
        {image.image, image.options.islands, found.result, found.mesh, image.sky.beam, table});
  }
}

}  // namespace

Outcome write_found(const FoundImage& image, const std::vector<StagedCatalogue>& targets) {
  io::OutputSet outputs;
  std::vector<StagedCatalogue> staged;
  for (const auto& [path, format] : targets) {
    staged.push_back(
        {outputs.add(path, overwrite_policy(image.options.overwrite), {image.options.input.path}),
         format});
  }
  Outcome outcome;
  outcome.state = Outcome::State::found;
  outcome.unit = image.image.hdu.unit;
  outcome.pixels = pixels_of(image.image);
  outcome.seconds = image.seconds;
  std::visit([&](const auto& found) { fill(image, found, staged, outcome); }, image.found);
  outputs.commit();
  return outcome;
}

}  // namespace kastor::cli
