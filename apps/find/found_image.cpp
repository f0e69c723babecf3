// SPDX-License-Identifier: Apache-2.0
#include "find/found_image.hpp"

#include <kastor/io/catalogue_writer.hpp>
#include <limits>

#include "cli/report/report.hpp"
#include "cli/run/blank_pixels.hpp"
#include "find/island_catalogues.hpp"
#include "find/island_report.hpp"

namespace kastor::cli {
namespace {

Catalogue as_catalogue(const Islands& islands) {
  Catalogue sources;
  sources.reserve(islands.size());
  for (const Island& s : islands) {
    sources.push_back({s.id, s.x_cen, s.y_cen, s.flux_sum, s.flux_peak, s.x_peak, s.y_peak, s.n_pix,
                       s.x_min, s.x_max, s.y_min, s.y_max});
  }
  return sources;
}

const IslandsAndMesh* islands_of(const FoundImage& image) {
  return std::get_if<IslandsAndMesh>(&image.found);
}

IslandReport report_of(const FoundImage& image, const NoiseUsed& noise,
                       const io::IslandTable& table) {
  const auto& found = std::get<IslandsAndMesh>(image.found);
  return {image.image, image.options.islands, found.result, found.mesh, image.sky.beam, noise,
          table};
}

}  // namespace

void FoundImage::note_blanked(std::int64_t pixels) {
  if (const auto note = blank_note(options.input, pixels); !note.empty()) notes.push_back(note);
}

std::int64_t FoundImage::sources() const {
  const auto* islands = islands_of(*this);
  return static_cast<std::int64_t>(islands != nullptr ? islands->result.islands.size()
                                                      : std::get<FindResult>(found).sources.size());
}

double FoundImage::level() const {
  const auto* islands = islands_of(*this);
  if (islands == nullptr) return std::get<FindResult>(found).threshold;
  return islands->mesh ? islands->mesh->rms : std::numeric_limits<double>::quiet_NaN();
}

FoundCatalogue::FoundCatalogue(const FoundImage& image) : m_image(image) {
  if (const auto* islands = islands_of(image)) {
    m_noise = noise_used(image.options.islands.noise, image.sky, islands->noise);
    m_table = island_table_of(image.image, image.options, image.sky, islands->result.islands,
                              islands->mesh, m_noise);
    m_table->notes.insert(m_table->notes.begin(), image.notes.begin(), image.notes.end());
  }
}

void FoundCatalogue::write(const std::vector<StagedCatalogue>& targets) const {
  const auto provenance = find_provenance(m_image.image, m_image.options);
  if (const auto* islands = islands_of(m_image)) {
    write_catalogues(targets, *m_table, islands->result.islands, provenance);
  } else {
    write_catalogues(targets, m_image.image, std::get<FindResult>(m_image.found).sources,
                     provenance);
  }
}

io::Table FoundCatalogue::table() const {
  if (m_table) return m_table->table;
  return io::catalogue_table(std::get<FindResult>(m_image.found).sources, m_image.image.hdu.unit);
}

const std::vector<std::string>& FoundCatalogue::notes() const {
  return m_table ? m_table->notes : m_image.notes;
}

Catalogue FoundCatalogue::sources() const {
  const auto* islands = islands_of(m_image);
  return islands != nullptr ? as_catalogue(islands->result.islands)
                            : std::get<FindResult>(m_image.found).sources;
}

std::string FoundCatalogue::text() const {
  if (m_table) return islands_text(report_of(m_image, m_noise, *m_table));
  return find_text(m_image.image, m_image.options.find, std::get<FindResult>(m_image.found),
                   m_image.notes);
}

std::string FoundCatalogue::json() const {
  if (m_table) return islands_json(report_of(m_image, m_noise, *m_table));
  return find_json(m_image.image, std::get<FindResult>(m_image.found), m_image.notes);
}

}  // namespace kastor::cli
