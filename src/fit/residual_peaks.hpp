// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_FIT_RESIDUAL_PEAKS_HPP
#define KASTOR_FIT_RESIDUAL_PEAKS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <kastor/gaussian.hpp>
#include <kastor/label.hpp>
#include <kastor/pixel_map.hpp>

#include "core/elementary.hpp"
#include "core/group.hpp"
#include "core/image_rows.hpp"
#include "core/region.hpp"
#include "fit/fit_rounds.hpp"
#include "islands/nearby_background.hpp"

namespace kastor::detail {

/// The pixel of an island that is highest above its model; of equal ones the first in raster order.
/// And the sum of the squares of what the model leaves: pixel i of the box belongs to partial sum
/// i mod 128. One group of threads for each island; the pixels are those of its label.
template <class Exec, Real T>
struct FindResidualPeaks {
  static constexpr int threads = 128;
  static constexpr int scratch_bytes = threads * static_cast<int>(sizeof(double));
  core::ImageRows<T> image;
  Background<Exec, T> background;
  RunLabels<Exec> labels;
  core::Region region;
  Side side;
  const ResidualTask* tasks;
  const Gaussian* models;
  ResidualPeak* peaks;

  KOKKOS_FUNCTION void operator()(const core::Group<Exec>& group) const {
    const ResidualTask& task = tasks[group.index()];
    constexpr double infinity = Kokkos::Experimental::infinity_v<double>;
    const std::int64_t width = std::int64_t{task.x_max} - task.x_min + 1;
    const std::int64_t height = std::int64_t{task.y_max} - task.y_min + 1;
    NearbyBackground<Exec, T> nearby(background);
    auto* const squares = group.template scratch<double>(threads);
    group.for_each(threads, [&](int part) { squares[part] = 0; });
    group.barrier();
    double highest = -infinity;
    std::int64_t place = width * height;
    group.for_each(width * height, [&](std::int64_t i) {
      const std::int64_t y = task.y_min + i / width;
      const std::int64_t x = task.x_min + i % width;
      if (labels.at(y, x) != task.label || !region.has(y, x)) return;
      const auto value = static_cast<double>(image.row(y)[x]);
      const LevelAndRms sky = nearby(y, x);
      if (!(value > -infinity && value < infinity) || !sky.is_usable()) return;
      const double residual = deviation(side, value, sky.level) - model_at(task, y, x);
      squares[i % threads] += residual * residual;
      // A thread sees its pixels in raster order.
      if (!(residual > highest)) return;
      highest = residual;
      place = i;
    });
    const double of_all = group.max(highest);
    const std::int64_t first = group.min(highest == of_all ? place : width * height);
    if (group.rank() != 0) return;
    ResidualPeak& peak = peaks[group.index()];
    peak = {-infinity, 0, 0, task.y_min, task.x_min};
    for (int part = 0; part < threads; ++part) peak.sum_of_squares += squares[part];
    if (first == width * height) return;
    peak.y = task.y_min + first / width;
    peak.x = task.x_min + first % width;
    peak.value = of_all;
    peak.rms = nearby(peak.y, peak.x).rms;
  }

 private:
  [[nodiscard]] KOKKOS_FUNCTION double model_at(const ResidualTask& task, std::int64_t y,
                                                std::int64_t x) const {
    const auto at_x = static_cast<double>(x);
    const auto at_y = static_cast<double>(y);
    double sum = 0;
    for (std::int64_t k = task.first; k < task.first + task.count; ++k) {
      const Gaussian& g = models[k];
      const double s = g.s(at_x, at_y);
      const double z = g.z(at_y);
      const double squared = s * s + z * z;
      // Beyond, less than 1e-13 of its peak.
      if (squared < 60) sum += g.peak * core::exp(-squared / 2);
    }
    return sum;
  }
};

/// A pixel of which the background is asked.
struct AskedPixel {
  std::int64_t y, x;
};

/// The level and the noise at some pixels.
template <class Exec, Real T>
struct EvaluateBackground {
  Background<Exec, T> background;
  const AskedPixel* pixels;
  LevelAndRms* values;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const AskedPixel& at = pixels[i];
    values[i] = {background.level(at.y, at.x), background.rms(at.y, at.x)};
  }
};

}  // namespace kastor::detail

#endif
