// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_CLI_ISLAND_JOB_HPP
#define KASTOR_APPS_CLI_ISLAND_JOB_HPP

#include <kastor/background.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/io/fits_writer.hpp>
#include <kastor/island_maps.hpp>
#include <limits>
#include <optional>
#include <string>

#include "cli/find_outputs.hpp"
#include "cli/island_plan.hpp"
#include "cli/outputs.hpp"
#include "cli/session.hpp"

namespace kastor::cli {

/// From pixels to islands on one backend, and the maps that were asked for.
struct IslandJob {
  const FindOptions& options;  ///< with the size of a cell settled
  const io::FitsImage& image;
  const FindOutputs& outputs;
  Session& session;

  IslandResult result;
  std::optional<BackgroundSummary> mesh;  ///< none if the user gave both maps

  template <class Exec, class Pixels>
  void run(const Exec& space, const Pixels& view) {
    using T = typename Pixels::non_const_value_type;
    const ConstImage<T, Exec> pixels = as_const_image<Exec>(view);
    IslandPlan<Exec, T> plan(space, options.islands, image);
    result = plan(pixels, image, session.steps());
    mesh = plan.mesh();
    const ScopedStep step(session.steps(), "maps");
    write_maps<Exec, T>(space, pixels, plan.background(), plan.finder());
  }

 private:
  template <class Exec, class T>
  void write_maps(const Exec& space, const ConstImage<T, Exec>& pixels,
                  const Background<Exec, T>& background, const IslandFinder<Exec, T>& finder) {
    const auto write = [&](const std::string& path, const std::string& unit, const auto& fill) {
      if (path.empty()) return;
      const Image<T, Exec> map = new_image<T>(space);
      fill(MutableImage<T, Exec>(map));
      write_map(path, readable_on_host(space, map), unit);
    };
    const std::string& unit = image.hdu.unit;
    write(outputs.background_map, unit,
          [&](const auto& map) { fill_map<Exec, T>(space, background.level, map); });
    write(outputs.rms_map, unit,
          [&](const auto& map) { fill_map<Exec, T>(space, background.rms, map); });
    write(outputs.snr_map, "",
          [&](const auto& map) { fill_snr_map<Exec, T>(space, pixels, background, map); });
    write(outputs.residual, unit, [&](const auto& map) {
      fill_residual_map<Exec, T>(space, pixels, background, finder.labels(),
                                 finder.negative_labels(), map);
    });
    if (outputs.labels.empty()) return;
    if (result.islands.size() <= std::numeric_limits<std::int32_t>::max()) {
      write_labels_as<std::int32_t>(space, finder);
    } else {
      write_labels_as<std::int64_t>(space, finder);
    }
  }

  template <class Label, class Exec, class T>
  void write_labels_as(const Exec& space, const IslandFinder<Exec, T>& finder) {
    const Image<Label, Exec> ids = new_image<Label>(space);
    write_island_labels<Exec, Label>(space, finder.labels(), finder.negative_labels(), ids);
    write_map(outputs.labels, readable_on_host(space, ids), "");
  }

  template <class Value, class Exec>
  [[nodiscard]] Image<Value, Exec> new_image(const Exec& space) const {
    return Image<Value, Exec>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "kastor::app::map"),
        static_cast<std::size_t>(image.ny), static_cast<std::size_t>(image.nx));
  }

  template <class HostView>
  void write_map(const std::string& path, const HostView& map, const std::string& unit) const {
    auto provenance = find_provenance(image, options);
    provenance.unit = unit;
    io::write_image(path, io::pixel_rows(map), io::kept_cards(image.header_cards, image.fits_axes),
                    provenance);
  }
};

}  // namespace kastor::cli

#endif
