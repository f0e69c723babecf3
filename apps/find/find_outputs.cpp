// SPDX-License-Identifier: Apache-2.0
#include "find/find_outputs.hpp"

#include <algorithm>
#include <kastor/error.hpp>
#include <kastor/io/catalogue_writer.hpp>
#include <kastor/io/island_regions.hpp>

#include "cli/options/names_option.hpp"
#include "cli/options/picture_options.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/outputs.hpp"
#include "cli/run/ranks.hpp"

namespace kastor::cli {
namespace {

template <class Format>
bool has_any(const std::vector<StagedCatalogue>& catalogues) {
  return std::any_of(catalogues.begin(), catalogues.end(), [](const auto& catalogue) {
    return std::holds_alternative<Format>(catalogue.format);
  });
}

CatalogueFormat component_format_of(const std::string& path) {
  if (const auto format = catalogue_format_of(path)) return *format;
  throw UsageError("--components: found '" + path +
                   "', whose suffix names no format; expected .csv, .ecsv, .fit, .fits, .vot, "
                   ".votable, .xml, .cat, .reg, .crtf or .skymodel");
}

}  // namespace

FindOutputs::FindOutputs(const FindOptions& options) {
  const ComponentOptions& components = options.islands.components;
  for (const auto& target : options.outputs)
    m_catalogues.islands.push_back({target, table_or_regions_of("-o", target)});
  for (const auto& target : components.files)
    m_catalogues.components.push_back({target, component_format_of(target)});
  std::vector<CatalogueFormat> formats;
  for (const auto* catalogues : {&m_catalogues.islands, &m_catalogues.components})
    for (const auto& catalogue : *catalogues) formats.push_back(catalogue.format);
  check_names(options.names, formats);
  for (const auto& [option, path] : fits_maps_of(options)) {
    if (path) require_fits_ending(option, *path);
  }
  if (options.picture) require_png_ending("--picture", *options.picture);

  if (!speaks()) return;

  std::vector<std::string> inputs = given_files_of(options);
  inputs.push_back(options.input.path);
  const auto add = [&](const std::string& target) {
    m_targets.push_back(target);
    return m_set.add(target, overwrite_policy(options.overwrite), inputs);
  };
  const auto add_if_given = [&](const std::optional<std::string>& target) {
    return target ? add(*target) : "";
  };
  for (auto* catalogues : {&m_catalogues.islands, &m_catalogues.components}) {
    for (auto& catalogue : *catalogues) catalogue.path = add(catalogue.path);
  }
  labels = add_if_given(options.labels);
  background_map = add_if_given(options.islands.background_map);
  rms_map = add_if_given(options.islands.rms_map);
  snr_map = add_if_given(options.islands.snr_map);
  residual = add_if_given(options.islands.residual);
  model = add_if_given(components.model);
  fit_residual = add_if_given(components.residual);
  picture = add_if_given(options.picture);
}

std::optional<io::Wcs> wcs_of(const io::FitsImage& image, std::string& why) {
  try {
    return io::Wcs(image.header_cards, image.fits_axes);
  } catch (const Error& error) {
    why = without_function(error.what());
    return std::nullopt;
  }
}

void write_catalogues(const std::vector<StagedCatalogue>& catalogues, const io::FitsImage& image,
                      const Catalogue& sources, const io::Provenance& provenance) {
  std::string why;
  const auto wcs = has_any<io::RegionFormat>(catalogues) ? wcs_of(image, why) : std::nullopt;
  for (const auto& [path, format] : catalogues) {
    if (const auto* regions = std::get_if<io::RegionFormat>(&format)) {
      const auto shown = io::catalogue_regions(sources, wcs ? &*wcs : nullptr);
      io::write_regions(path, *regions, shown.regions, shown.frame, provenance);
    } else {
      io::write_catalogue(path, std::get<io::TableFormat>(format), sources, provenance);
    }
  }
}

void write_table_of_rows(const std::vector<StagedCatalogue>& catalogues, const io::FitsImage& image,
                         const io::Table& table, io::TableNames names, const RegionsOfRows& regions,
                         const io::Provenance& provenance) {
  std::optional<io::Table> named;
  if (names != io::TableNames::kastor && has_any<io::TableFormat>(catalogues))
    about_image(image, [&] { named = io::table_with_names(table, names); });
  for (const auto& [path, format] : catalogues) {
    if (std::holds_alternative<io::RegionFormat>(format)) {
      const auto shown = regions();
      io::write_regions(path, std::get<io::RegionFormat>(format), shown.regions, shown.frame,
                        provenance);
    } else if (std::holds_alternative<io::SkyModelFormat>(format)) {
      about_image(image, [&, &target = path] { io::write_sky_model(target, table, provenance); });
    } else {
      io::write_table(path, std::get<io::TableFormat>(format), named ? *named : table, provenance);
    }
  }
}

io::Provenance find_provenance(const io::FitsImage& image, const FindOptions& options) {
  const std::string chosen = options.islands.preset == Preset::lesson
                                 ? find_options_as_typed(options.find)
                                 : island_options_as_typed(options.islands);
  const std::string unit = options.unit ? " --unit " + *options.unit : "";
  return provenance_of(image,
                       "kastor find" + input_options_as_typed(options.input) + unit + " " + chosen +
                           names_as_typed(options.names),
                       image.hdu.unit);
}

io::PictureParams find_picture_params() {
  io::PictureParams params;
  params.font = font_of_environment();
  return params;
}

}  // namespace kastor::cli
