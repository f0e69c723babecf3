// SPDX-License-Identifier: Apache-2.0
#include "binding/found.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <kastor/io/table_names.hpp>
#include <utility>

#include "binding/tables.hpp"
#include "cli/run/errors.hpp"
#include "find/find_one.hpp"
#include "find/find_outputs.hpp"

namespace kastor::python {

bool MapsInMemory::wants(const std::string& option) const {
  return std::find(wanted.begin(), wanted.end(), option) != wanted.end();
}

Found::Found(std::unique_ptr<cli::FoundImage> image, MapsInMemory maps)
    : m_image(std::move(image)),
      m_catalogue(std::make_unique<cli::FoundCatalogue>(*m_image)),
      m_maps(std::move(maps)) {}

nb::dict Found::islands() const { return as_dict(m_catalogue->table()); }

nb::object Found::components() const {
  const io::Table* table = m_catalogue->components();
  return table == nullptr ? nb::none() : nb::object(as_dict(*table));
}

nb::dict Found::maps() const {
  nb::dict dict;
  for (const auto& [option, map] : m_maps.maps)
    dict[option.c_str()] = std::visit([](const auto& view) { return as_array(view); }, map);
  return dict;
}

void Found::write_outputs(cli::FindOutputs& outputs, const io::PictureParams& picture) {
  m_catalogue->write(outputs.catalogues());
  if (!outputs.picture.empty()) cli::draw(outputs.picture, *m_image, *m_catalogue, picture);
  outputs.commit();
  m_image->image.pixels = {};
}

void Found::write(const std::string& path, bool components, const std::string& names,
                  bool overwrite) {
  const auto chosen = io::table_names_called(names);
  if (!chosen) {
    throw cli::UsageError("names: found '" + names +
                          "'; expected kastor, pybdsf, aegean, sextractor or vizier");
  }
  m_image->options.names = *chosen;
  cli::FindOptions options;
  options.input.path = m_image->image.path;
  options.names = *chosen;
  options.overwrite = overwrite;
  (components ? options.islands.components.files : options.outputs).push_back(path);
  cli::FindOutputs outputs(options);
  m_catalogue->write(outputs.catalogues());
  outputs.commit();
}

}  // namespace kastor::python
