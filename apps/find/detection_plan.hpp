// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_DETECTION_PLAN_HPP
#define KASTOR_APPS_FIND_DETECTION_PLAN_HPP

#include <kastor/background.hpp>
#include <kastor/detection_filter.hpp>
#include <kastor/error.hpp>
#include <kastor/island_finder.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/island_options.hpp"
#include "cli/report/words.hpp"
#include "cli/run/errors.hpp"
#include "cli/run/kernel_file.hpp"
#include "cli/run/outputs.hpp"
#include "find/detection_summary.hpp"
#include "find/fill_excluder.hpp"

namespace kastor::cli {

/// What islands of an image are found in, if it is not the image itself: another one with the
/// background of its own mesh, or one of the two after a filter.
template <class Exec, class T>
class DetectionPlan {
 public:
  /// Reads the kernel, if it is in a file. \throws Error
  DetectionPlan(const Exec& space, const IslandOptions& options)
      : m_space(space), m_options(options), m_exclude_fill(space) {
    if (options.detection.image) m_estimator.emplace(space, options.mesh);
    if (options.detection.has_filter()) make_filter();
  }

  /// \param other  the detection image, if one was given
  /// \param masks  the pixels that are used; those that are constant fill there are taken out
  void prepare(const ConstImage<T, Exec>& image, const Background<Exec, T>& background,
               const ConstImage<T, Exec>& other, UsablePixels<Exec>& masks) {
    m_summary = {};
    m_notes.clear();
    if (!m_estimator && !m_filter) return;
    m_image = image;
    Background<Exec, T> its = background;
    if (m_estimator) {
      m_image = other;
      if (m_options.detects_fill) {
        masks = m_exclude_fill(other, masks, m_options.find.seed);
        for (const auto& note : fill_notes(m_exclude_fill.fill()))
          m_notes.push_back("in the detection image " + note);
      }
      its = (*m_estimator)(other, masks.excluded).background();
      m_summary.mesh = m_estimator->summary();
    }
    m_unfiltered = {Bands<T, Exec>(&m_image, 1), its};
    m_detection = m_unfiltered;
    if (!m_filter) return;
    m_filtered = (*m_filter)(m_image, its, masks.usable);
    m_detection = m_filtered.detection();
    m_summary.is_filtered = true;
    if (m_filtered.sums_to_one) {
      m_summary.filtered_noise = m_filtered.noise;
    } else {
      m_notes.push_back(
          "the taps of --filter-kernel " + one_line(name_of(m_options.detection.kernel)) +
          " sum to 0, so the flux below the threshold is not known, and there is no flux_int");
    }
  }

  /// Of the last image; null if islands are found in the image itself.
  [[nodiscard]] const Detection<Exec, T>* detection() const {
    return m_estimator || m_filter ? &m_detection : nullptr;
  }
  /// What the peaks of the last image's islands are looked for in; null if it is the image itself.
  /// A Gaussian that is best for detection joins neighbours: one of half its width tells them
  /// apart.
  [[nodiscard]] const Detection<Exec, T>* for_peaks(const BitMask<Exec>& usable) {
    if (!m_peak_filter) return detection();
    m_peak_filtered = (*m_peak_filter)(m_image, m_unfiltered.background, usable);
    m_for_peaks = m_peak_filtered.detection();
    return &m_for_peaks;
  }
  [[nodiscard]] const DetectionSummary& summary() const { return m_summary; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_notes; }

 private:
  void make_filter() {
    const FilterKernel& chosen = m_options.detection.kernel;
    ConvolutionKernel kernel = sextractor_kernel();
    const auto make = [&](auto& filter) {
      filter.emplace(m_space, kernel, m_options.mesh.clip, m_options.mesh.correct_clip);
    };
    if (const auto* gaussian = std::get_if<GaussianFilter>(&chosen)) {
      const double sigma = gaussian->fwhm / 2.3548200450309493;  // sqrt(8 ln 2)
      kernel = gaussian_kernel(sigma / 2);
      make(m_peak_filter);
      kernel = gaussian_kernel(sigma);
    }
    const auto use = [&] { make(m_filter); };
    const auto* file = std::get_if<FilterFile>(&chosen);
    if (file == nullptr) return use();
    try {
      io::FitsImage image;
      kernel = read_kernel(file->path, file->max_unpacked, image);
      about_image(image, use);
    } catch (const Error& error) {
      throw Error(std::string(error.what()) + " (read for --filter-kernel)");
    }
  }

  Exec m_space;
  IslandOptions m_options;
  FillExcluder<Exec> m_exclude_fill;
  std::optional<BackgroundEstimator<Exec, T>> m_estimator;
  std::optional<DetectionFilter<Exec, T>> m_filter, m_peak_filter;
  ConstImage<T, Exec> m_image;
  FilteredImage<Exec, T> m_filtered, m_peak_filtered;
  Detection<Exec, T> m_unfiltered, m_detection, m_for_peaks;
  DetectionSummary m_summary;
  std::vector<std::string> m_notes;
};

}  // namespace kastor::cli

#endif
