// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ISLAND_MAPS_HPP
#define KASTOR_APPS_FIND_ISLAND_MAPS_HPP

#include <kastor/component_maps.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <string>
#include <vector>

#include "cli/run/backends.hpp"
#include "find/beam_cards.hpp"
#include "find/component_outputs.hpp"
#include "find/found_image.hpp"
#include "find/island_plan.hpp"

namespace kastor::cli {

/// Writes the FITS images that go with a catalogue of islands.
template <class Exec, class T>
struct IslandMaps {
  const Exec& space;
  const FoundImage& found;
  const FindOutputs& outputs;

  /// Writes the images that were asked for. \param plan  the plan that searched these pixels
  void write(const ConstImage<T, Exec>& pixels, const IslandPlan<Exec, T>& plan) const {
    const Background<Exec, T>& background = plan.background();
    const std::string& unit = found.image.hdu.unit;
    write_map(outputs.background_map, unit,
              [&](const auto& map) { fill_map<Exec, T>(space, background.level, map); });
    write_map(outputs.rms_map, unit,
              [&](const auto& map) { fill_map<Exec, T>(space, background.rms, map); });
    const Detection<Exec, T>* found_in = plan.detection().detection();
    write_map(outputs.snr_map, "", [&](const auto& map) {
      fill_snr_map<Exec, T>(space, found_in != nullptr ? found_in->bands.front() : pixels,
                            found_in != nullptr ? found_in->background : background, map);
    });
    write_map(outputs.residual, unit, [&](const auto& map) {
      fill_residual_map<Exec, T>(space, pixels, background, plan.labels(), plan.negative_labels(),
                                 map);
    });
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (found.sources() <= most) {
      write_labels_as<std::int32_t>(plan);
    } else {
      write_labels_as<std::int64_t>(plan);
    }
    write_component_maps(pixels, background);
  }

 private:
  void write_component_maps(const ConstImage<T, Exec>& pixels,
                            const Background<Exec, T>& background) const {
    if (outputs.model.empty() && outputs.fit_residual.empty()) return;
    const auto gaussians = gaussians_of(std::get<IslandsAndMesh>(found.found).fitted->components);
    const std::string& unit = found.image.hdu.unit;
    const Image<T, Exec> model = new_image<T>();
    fill_model<Exec, T>(space, gaussians, MutableImage<T, Exec>(model));
    if (!outputs.model.empty()) write_image(outputs.model, readable_on_host(space, model), unit);
    write_map(outputs.fit_residual, unit, [&](const auto& map) {
      // Divided by a noise of 1: blank pixels are NaN.
      const PixelMap<Exec, T> one(1);
      fill_snr_map<Exec, T>(space, pixels, {background.level, one}, map);
      const PixelMap<Exec, T> level{ConstImage<T, Exec>(model)};
      fill_snr_map<Exec, T>(space, ConstImage<T, Exec>(map), {level, one}, map);
    });
  }

  template <class Fill>
  void write_map(const std::string& path, const std::string& unit, const Fill& fill) const {
    if (path.empty()) return;
    const Image<T, Exec> map = new_image<T>();
    fill(MutableImage<T, Exec>(map));
    write_image(path, readable_on_host(space, map), unit);
  }

  template <class Label>
  void write_labels_as(const IslandPlan<Exec, T>& plan) const {
    if (outputs.labels.empty()) return;
    const Image<Label, Exec> ids = new_image<Label>();
    write_island_labels<Exec, Label>(space, plan.labels(), plan.negative_labels(), ids);
    write_image(outputs.labels, readable_on_host(space, ids), "");
  }

  template <class Value>
  [[nodiscard]] Image<Value, Exec> new_image() const {
    return Image<Value, Exec>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::map"),
        static_cast<std::size_t>(found.image.ny), static_cast<std::size_t>(found.image.nx));
  }

  template <class HostView>
  void write_image(const std::string& path, const HostView& map, const std::string& unit) const {
    auto provenance = find_provenance(found.image, found.options);
    provenance.unit = unit;
    io::write_image(
        path, io::pixel_rows(map),
        io::cards_without_beam(io::kept_cards(found.image.header_cards, found.image.fits_axes)),
        provenance, beam_cards(found.sky.beam));
  }
};

}  // namespace kastor::cli

#endif
