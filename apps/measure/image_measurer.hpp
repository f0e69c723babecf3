// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_MEASURE_IMAGE_MEASURER_HPP
#define KASTOR_APPS_MEASURE_IMAGE_MEASURER_HPP

#include <algorithm>
#include <kastor/aperture.hpp>
#include <kastor/forced.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/report/steps.hpp"
#include "cli/run/outputs.hpp"
#include "find/fill_excluder.hpp"
#include "find/island_plan.hpp"
#include "measure/measurement_report.hpp"

namespace kastor::cli {

/// Estimates the background of an image, and measures it at given positions, on one backend.
template <class Exec>
class ImageMeasurer {
 public:
  ImageMeasurer(const Exec& space, StepRecorder& steps) : m_space(space), m_steps(steps) {}

  /// \param measurement  with the image, its header and the list
  template <class T>
  void operator()(const ConstImage<T, Exec>& pixels, const MeasureOptions& options,
                  Measurement& measurement) {
    FoundImage& found = measurement.found;
    IslandPlan<Exec, T> plan(m_space, found.options.islands, found.image, false);
    const auto masks = plan.look_at_sky(pixels, found.image, m_steps);
    for (const auto& note : fill_notes(plan.fill())) found.notes.push_back(note);
    found.notes.insert(found.notes.end(), plan.notes().begin(), plan.notes().end());
    measurement.noise = noise_used(found.options.islands.noise, found.sky, plan.noise());
    const ScopedStep step(m_steps, "measure");
    about_image(found.image, [&] {
      if (measurement.list.beam)
        measurement.components =
            fits(pixels, plan.background(), masks.usable, options, measurement);
      add_apertures(pixels, plan.background(), masks.usable, options, measurement);
    });
  }

 private:
  template <class T>
  Components fits(const ConstImage<T, Exec>& pixels, const Background<Exec, T>& background,
                  const BitMask<Exec>& usable, const MeasureOptions& options,
                  const Measurement& measurement) {
    const ForcedParams params{*measurement.list.beam, std::max(measurement.noise.pixels, 1.0),
                              options.free};
    ForcedPhotometer<Exec, T> photometer(m_space, params);
    return photometer(Bands<T, Exec>(&pixels, 1), background, measurement.list.positions, usable)
        .components;
  }

  template <class T>
  void add_apertures(const ConstImage<T, Exec>& pixels, const Background<Exec, T>& background,
                     const BitMask<Exec>& usable, const MeasureOptions& options,
                     Measurement& measurement) {
    if (options.apertures.empty()) return;
    std::vector<double> radii;
    for (const auto& each : options.apertures) radii.push_back(each.pixels);
    std::vector<AperturePosition> positions;
    for (const auto& each : measurement.list.positions) positions.push_back({each.x, each.y});
    const auto fluxes =
        AperturePhotometer<Exec, T>(m_space, radii)(pixels, background, positions, usable);
    const PixelEllipse shape = measurement.list.beam.value_or(PixelEllipse{});
    for (std::size_t r = 0; r < radii.size(); ++r) {
      io::ApertureColumn column{
          options.apertures[r].text,
          aperture_noise_factor(radii[r], std::max(measurement.noise.pixels, 1.0), shape),
          {}};
      for (std::size_t i = r; i < fluxes.size(); i += radii.size())
        column.fluxes.push_back(fluxes[i]);
      measurement.apertures.push_back(std::move(column));
    }
  }

  Exec m_space;
  StepRecorder& m_steps;
};

}  // namespace kastor::cli

#endif
