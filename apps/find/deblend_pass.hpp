// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_DEBLEND_PASS_HPP
#define KASTOR_APPS_FIND_DEBLEND_PASS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <kastor/deblend.hpp>
#include <kastor/island_finder.hpp>
#include <optional>
#include <span>
#include <vector>

#include "cli/options/island_options.hpp"

namespace kastor::cli {

/// What stands for itself within the islands. \param options  with the prominence set
[[nodiscard]] inline DeblendParams deblend_params_of(const IslandOptions& options) {
  DeblendParams params;
  params.prominence = options.components.used_prominence;
  params.contrast = options.components.contrast;
  params.min_peak = options.find.seed;
  // A filter makes any peak wide, so that the pixels above a saddle tell nothing of its kind.
  params.min_pixels = options.detection.has_filter() ? 1 : options.find.min_pixels;
  params.min_size = options.find.min_pixels;
  params.connectivity = options.find.connectivity;
  return params;
}

/// Finds the peaks of islands above and below the background, and splits islands into them.
template <class Exec, class T>
class DeblendPass {
 public:
  /// The islands of one side.
  struct Side {
    RunLabels<Exec> labels;
    std::span<const Island> islands;
    IslandPeaks peaks;
  };

  DeblendPass(const Exec& space, const IslandOptions& options)
      : m_above(space, deblend_params_of(options)) {
    if (options.find.negative) m_below.emplace(space, deblend_params_of(options));
  }

  /// \param bands  what peaks are looked for in, above `background`
  void find_peaks(Bands<T, Exec> bands, const Background<Exec, T>& background,
                  const IslandResult& result, const IslandFinder<Exec, T>& finder) {
    m_islands = result;
    const std::span<const Island> islands(m_islands.islands);
    const auto above = static_cast<std::size_t>(result.positive.islands);
    m_sides[0] = {finder.labels(), islands.first(above), {}};
    m_sides[1] = {finder.negative_labels(), islands.subspan(above), {}};
    for (std::size_t i = 0; i < 2; ++i) m_labels[i] = m_sides[i].labels;
    each_side([&](Deblender<Exec, T>& deblender, Side& side) {
      side.peaks = deblender.peaks(bands, background, side.islands, side.labels);
    });
  }

  /// The islands of the last `find_peaks()` split into their peaks, measured in `pixels`; those
  /// below the background follow. Counts are those of the parts.
  /// \param detection  what the islands were found in, if it is not `pixels`; the peaks then become
  /// those of the parts
  [[nodiscard]] IslandResult split(const ConstImage<T, Exec>& pixels,
                                   const Background<Exec, T>& background,
                                   const BitMask<Exec>& usable,
                                   const Detection<Exec, T>* detection) {
    IslandResult parts = m_islands;
    parts.islands.clear();
    m_parents.clear();
    each_side([&](Deblender<Exec, T>& deblender, Side& side) {
      const Bands<T, Exec> bands(&pixels, 1);
      auto found = detection == nullptr ? deblender.children(bands, background, usable)
                                        : deblender.children(*detection, bands, background, usable);
      if (detection != nullptr) take_peaks_of(found.children, side.peaks);
      const bool is_above = &side == m_sides.data();
      auto& count = is_above ? parts.positive.islands : parts.negative.islands;
      count = static_cast<std::int64_t>(found.children.size());
      for (Island& child : found.children) {
        if (!is_above) child.id += parts.positive.islands;
        parts.islands.push_back(child);
      }
      m_labels[is_above ? 0 : 1] = deblender.labels();
      m_parents.insert(m_parents.end(), found.parents.begin(), found.parents.end());
    });
    return parts;
  }

  /// The islands before they were split.
  [[nodiscard]] const IslandResult& islands() const { return m_islands; }
  /// Those above the background, then those below it.
  [[nodiscard]] const std::array<Side, 2>& sides() const { return m_sides; }
  /// Of each part, the id of its island.
  [[nodiscard]] const std::vector<std::int64_t>& parents() const { return m_parents; }
  /// Labels of the parts of the last `split()`.
  [[nodiscard]] const RunLabels<Exec>& labels() const { return m_labels[0]; }
  [[nodiscard]] const RunLabels<Exec>& negative_labels() const { return m_labels[1]; }

 private:
  static void take_peaks_of(const Islands& parts, IslandPeaks& peaks) {
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      const Island& part = parts[i];
      peaks[i].x = part.x_peak;
      peaks[i].y = part.y_peak;
      const double peak = (part.flags & island_negative) != 0 ? -part.flux_peak : part.flux_peak;
      // The height above the saddle stays what it is in units of the noise.
      const double prominence = (peaks[i].deviation - peaks[i].saddle) / peaks[i].rms;
      peaks[i].deviation = std::isfinite(peak) ? peak : 0;
      peaks[i].rms = part.rms_at_peak;
      peaks[i].saddle = peaks[i].deviation - prominence * peaks[i].rms;
    }
    std::stable_sort(peaks.begin(), peaks.end(), [](const IslandPeak& a, const IslandPeak& b) {
      return a.island_id != b.island_id ? a.island_id < b.island_id : a.deviation > b.deviation;
    });
  }

  /// Calls `work` for the sides that have islands.
  template <class Work>
  void each_side(const Work& work) {
    if (!m_sides[0].islands.empty()) work(m_above, m_sides[0]);
    if (m_below && !m_sides[1].islands.empty()) work(*m_below, m_sides[1]);
  }

  Deblender<Exec, T> m_above;
  std::optional<Deblender<Exec, T>> m_below;
  IslandResult m_islands;
  std::array<Side, 2> m_sides;
  std::array<RunLabels<Exec>, 2> m_labels;
  std::vector<std::int64_t> m_parents;
};

}  // namespace kastor::cli

#endif
