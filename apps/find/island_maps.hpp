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

/// Writes maps as FITS images, under the temporary names of the outputs.
struct MapFiles {
  const FoundImage& found;
  const FindOutputs& outputs;

  [[nodiscard]] const std::string& path_of(const std::string& option) const {
    if (option == "--background-map") return outputs.background_map;
    if (option == "--rms-map") return outputs.rms_map;
    if (option == "--snr-map") return outputs.snr_map;
    if (option == "--residual") return outputs.residual;
    if (option == "--labels") return outputs.labels;
    return option == "--model" ? outputs.model : outputs.fit_residual;
  }
  [[nodiscard]] bool wants(const std::string& option) const { return !path_of(option).empty(); }
  template <class HostView>
  void take(const std::string& option, const HostView& map, const std::string& unit) const {
    auto provenance = find_provenance(found.image, found.options);
    provenance.unit = unit;
    io::write_image(
        path_of(option), io::pixel_rows(map),
        io::cards_without_beam(io::kept_cards(found.image.header_cards, found.image.fits_axes)),
        provenance, beam_cards(found.sky.beam));
  }
};

/// Fills the images that go with a catalogue of islands. `Target` says by the names of the options
/// which it wants, and takes them in memory of the host: see `MapFiles`.
template <class Exec, class T, class Target>
struct IslandMaps {
  const Exec& space;
  const FoundImage& found;
  Target& target;

  /// Fills the images that are wanted. \param plan  the plan that searched these pixels
  void fill(const ConstImage<T, Exec>& pixels, const IslandPlan<Exec, T>& plan) const {
    const Background<Exec, T>& background = plan.background();
    const std::string& unit = found.image.hdu.unit;
    fill_one("--background-map", unit,
             [&](const auto& map) { fill_map<Exec, T>(space, background.level, map); });
    fill_one("--rms-map", unit,
             [&](const auto& map) { fill_map<Exec, T>(space, background.rms, map); });
    const Detection<Exec, T>* found_in = plan.detection().detection();
    fill_one("--snr-map", "", [&](const auto& map) {
      fill_snr_map<Exec, T>(space, found_in != nullptr ? found_in->bands.front() : pixels,
                            found_in != nullptr ? found_in->background : background, map);
    });
    fill_one("--residual", unit, [&](const auto& map) {
      fill_residual_map<Exec, T>(space, pixels, background, plan.labels(), plan.negative_labels(),
                                 map);
    });
    const std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (found.sources() <= most) {
      fill_labels_as<std::int32_t>(plan);
    } else {
      fill_labels_as<std::int64_t>(plan);
    }
    fill_component_maps(pixels, background);
  }

 private:
  void fill_component_maps(const ConstImage<T, Exec>& pixels,
                           const Background<Exec, T>& background) const {
    if (!target.wants("--model") && !target.wants("--fit-residual")) return;
    const auto gaussians = gaussians_of(std::get<IslandsAndMesh>(found.found).fitted->components);
    const std::string& unit = found.image.hdu.unit;
    const Image<T, Exec> model = new_image<T>();
    fill_model<Exec, T>(space, gaussians, MutableImage<T, Exec>(model));
    if (target.wants("--model")) target.take("--model", readable_on_host(space, model), unit);
    fill_one("--fit-residual", unit, [&](const auto& map) {
      // Divided by a noise of 1: blank pixels are NaN.
      const PixelMap<Exec, T> one(1);
      fill_snr_map<Exec, T>(space, pixels, {background.level, one}, map);
      const PixelMap<Exec, T> level{ConstImage<T, Exec>(model)};
      fill_snr_map<Exec, T>(space, ConstImage<T, Exec>(map), {level, one}, map);
    });
  }

  template <class Fill>
  void fill_one(const char* option, const std::string& unit, const Fill& fill) const {
    if (!target.wants(option)) return;
    const Image<T, Exec> map = new_image<T>();
    fill(MutableImage<T, Exec>(map));
    target.take(option, readable_on_host(space, map), unit);
  }

  template <class Label>
  void fill_labels_as(const IslandPlan<Exec, T>& plan) const {
    if (!target.wants("--labels")) return;
    const Image<Label, Exec> ids = new_image<Label>();
    write_island_labels<Exec, Label>(space, plan.labels(), plan.negative_labels(), ids);
    target.take("--labels", readable_on_host(space, ids), "");
  }

  template <class Value>
  [[nodiscard]] Image<Value, Exec> new_image() const {
    return Image<Value, Exec>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::map"),
        static_cast<std::size_t>(found.image.ny), static_cast<std::size_t>(found.image.nx));
  }
};

}  // namespace kastor::cli

#endif
