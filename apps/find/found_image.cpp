// SPDX-License-Identifier: Apache-2.0
#include "find/found_image.hpp"

#include <algorithm>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/island_regions.hpp>
#include <limits>
#include <numbers>
#include <optional>

#include "cli/report/report.hpp"
#include "cli/run/blank_pixels.hpp"
#include "find/component_outputs.hpp"
#include "find/component_report.hpp"
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
    if (islands->result.islands.empty()) m_noise.note.clear();  // there are no errors
    m_table = island_table_of(image.image, image.options, image.sky, islands->result.islands,
                              {islands->kron, islands->weights, islands->parents}, islands->mesh,
                              islands->detection, m_noise);
    m_table->notes.insert(m_table->notes.begin(), image.notes.begin(), image.notes.end());
    add_components(*islands);
  }
}

void FoundCatalogue::add_components(const IslandsAndMesh& islands) {
  if (!islands.fitted) return;
  const Components& components = islands.fitted->components;
  m_components = component_table_of(m_image.image, m_image.options, m_image.sky, components,
                                    islands.detection, m_noise);
  if (m_image.options.json) m_component_hash = io::component_hash(components);
  // Without a table of components its notes would say again what those on islands say.
  if (m_image.options.islands.components.files.empty()) return;
  for (const auto& note : m_components->notes) {
    auto& notes = m_table->notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

void FoundCatalogue::write(const StagedCatalogues& targets) const {
  const auto provenance = find_provenance(m_image.image, m_image.options);
  if (const auto* islands = islands_of(m_image)) {
    const auto write = [&](const auto& catalogues, const io::Table& table, const auto& regions) {
      write_table_of_rows(catalogues, m_image.image, table, m_image.options.names, regions,
                          provenance);
    };
    write(targets.islands, m_table->table,
          [&] { return io::island_regions(islands->result.islands, m_table->table); });
    if (m_components) {
      write(targets.components, m_components->table,
            [&] { return io::component_regions(m_components->table); });
    }
  } else {
    write_catalogues(targets.islands, m_image.image, std::get<FindResult>(m_image.found).sources,
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

std::vector<io::PictureEllipse> FoundCatalogue::ellipses() const {
  std::vector<io::PictureEllipse> ellipses;
  for (const Component& each : std::get<IslandsAndMesh>(m_image.found).fitted->components) {
    const PixelEllipse shape = ellipse_of(each.gaussian);
    ellipses.push_back({each.id, each.gaussian.x, each.gaussian.y, shape.major, shape.minor,
                        shape.angle * 180 / std::numbers::pi});
  }
  return ellipses;
}

template <class Print>
std::string FoundCatalogue::with_report(const Print& print) const {
  const auto& found = std::get<IslandsAndMesh>(m_image.found);
  std::optional<ComponentsReport> components;
  if (m_components) {
    components.emplace(ComponentsReport{found.fitted->components, m_components->table,
                                        m_image.options.islands.components.has_beam_shape,
                                        m_component_hash});
  }
  return print(IslandReport{m_image.image, m_image.options.islands, found.result, found.mesh,
                            m_image.sky.beam, m_noise, *m_table, found.detection, found.unsplit,
                            components ? &*components : nullptr});
}

std::string FoundCatalogue::text() const {
  if (m_table) return with_report([](const auto& report) { return islands_text(report); });
  return find_text(m_image.image, m_image.options.find, std::get<FindResult>(m_image.found),
                   m_image.notes);
}

std::string FoundCatalogue::json() const {
  if (m_table) return with_report([](const auto& report) { return islands_json(report); });
  return find_json(m_image.image, std::get<FindResult>(m_image.found), m_image.notes);
}

}  // namespace kastor::cli
