// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_ISLAND_PLAN_HPP
#define KASTOR_APPS_FIND_ISLAND_PLAN_HPP

#include <kastor/background.hpp>
#include <kastor/io/fits_image.hpp>
#include <kastor/island_finder.hpp>
#include <kastor/kron.hpp>
#include <kastor/noise_correlation.hpp>
#include <kastor/statistics.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/report/steps.hpp"
#include "cli/run/outputs.hpp"
#include "find/artefact_pass.hpp"
#include "find/deblend_pass.hpp"
#include "find/detection_plan.hpp"
#include "find/fill_excluder.hpp"
#include "find/find_options.hpp"
#include "find/given_pixels.hpp"
#include "find/weighted_noise.hpp"

namespace kastor::cli {

/// Finds islands on one backend, for images of the same shape and options. It holds the work space,
/// and the maps and masks of the user, which are read when an image needs them.
template <class Exec, class T>
class IslandPlan {
 public:
  /// \param options     with the size of a cell and the prominence set
  /// \param finds_peaks whether the peaks of islands are needed even if these are not split
  IslandPlan(const Exec& space, const IslandOptions& options, const io::FitsImage& image,
             bool finds_peaks)
      : m_space(space),
        m_options(options),
        m_ny(image.ny),
        m_nx(image.nx),
        m_given(options),
        m_exclude_fill(space),
        m_detection(space, options),
        m_finder(space, options.find) {
    if (!options.background || !options.rms) m_estimator.emplace(space, options.mesh);
    if (options.photometry.weight) m_weighted.emplace(space, options.mesh);
    if (options.preset == Preset::sextractor) m_photometer.emplace(space);
    if (finds_peaks || options.components.deblends) m_deblend.emplace(space, options);
    if (options.adaptive_rms) m_artefacts.emplace(space, *options.adaptive_rms, options.beam_width);
  }

  /// Whether the plan can be used for this image. Options that are not compared are the same for
  /// all images of a run.
  [[nodiscard]] bool serves(const IslandOptions& options, const io::FitsImage& image,
                            bool finds_peaks) const {
    return m_ny == image.ny && m_nx == image.nx &&
           m_options.mesh.cell_height == options.mesh.cell_height &&
           m_options.mesh.cell_width == options.mesh.cell_width &&
           m_options.find.min_pixels == options.find.min_pixels &&
           m_options.beam_width == options.beam_width &&
           m_options.components.used_prominence == options.components.used_prominence &&
           (m_deblend.has_value() || !finds_peaks);
  }

  /// Reads what the user gives, and estimates the background and the noise's correlation.
  [[nodiscard]] UsablePixels<Exec> look_at_sky(const ConstImage<T, Exec>& pixels,
                                               const io::FitsImage& image, StepRecorder& steps) {
    UsablePixels<Exec> masks;
    {
      std::optional<ScopedStep> step;
      if (has_given_files(m_options)) step.emplace(steps, "read masks and maps");
      m_given.read_for(m_space, image);
      m_background = {m_given.level, m_given.rms};
    }
    {
      const ScopedStep step(steps, "background");
      masks = usable_of(pixels);
      if (m_estimator) {
        about_image(image, [&] {
          const auto mesh = (*m_estimator)(pixels, masks.excluded);
          const auto estimated = mesh.background();
          m_mesh = summary();
          if (!m_options.background) m_background.level = estimated.level;
          if (!m_options.rms) m_background.rms = estimated.rms;
          if (m_weighted) use_weights(pixels, masks);
        });
      }
    }
    m_noise.reset();
    if (m_options.noise == AssumedNoise::measured) {
      const ScopedStep step(steps, "noise");
      about_image(image, [&] {
        m_noise = measure_noise_correlation(m_space, pixels, m_background, masks.usable);
      });
    }
    return masks;
  }

  [[nodiscard]] IslandResult operator()(const ConstImage<T, Exec>& pixels,
                                        const io::FitsImage& image, StepRecorder& steps) {
    UsablePixels<Exec> masks = look_at_sky(pixels, image, steps);
    IslandResult result;
    const ScopedStep step(steps, "find");
    const auto find = [&] { return search(pixels, image, masks); };
    result = find();
    if (m_artefacts) (*m_artefacts)(pixels, masks.usable, m_background, result, find);
    m_usable = masks.usable;
    about_image(image, [&] {
      // An image without a finite pixel is refused. With a mesh, the estimator does so.
      if (!m_estimator && result.positive.foreground_pixels == 0)
        static_cast<void>(statistics(m_space, pixels));
      deblend(pixels, result);
      measure(pixels, result);
    });
    return result;
  }

  /// The constants of the last image that were taken as blank.
  [[nodiscard]] const std::vector<FillValue>& fill() const { return m_exclude_fill.fill(); }
  /// The background of the last image.
  [[nodiscard]] const Background<Exec, T>& background() const { return m_background; }
  /// Labels of the last image's islands, or of their parts if they were split.
  [[nodiscard]] const RunLabels<Exec>& labels() const {
    return splits() ? m_deblend->labels() : m_finder.labels();
  }
  [[nodiscard]] const RunLabels<Exec>& negative_labels() const {
    return splits() ? m_deblend->negative_labels() : m_finder.negative_labels();
  }
  /// The islands of the last image before they were split, and their peaks; null if not needed.
  [[nodiscard]] const DeblendPass<Exec, T>* peaks() const {
    return m_deblend ? &*m_deblend : nullptr;
  }
  /// The pixels of the last image that were used; empty: all.
  [[nodiscard]] const BitMask<Exec>& usable() const { return m_usable; }
  /// The Kron fluxes of the last image's islands; empty but for the preset sextractor.
  [[nodiscard]] const std::vector<KronFlux>& kron() const { return m_kron; }
  /// The relative weights at the last image's islands; empty without weights.
  [[nodiscard]] const std::vector<double>& weights() const { return m_weights; }
  /// None if the user gave both maps.
  [[nodiscard]] const std::optional<BackgroundSummary>& mesh() const { return m_mesh; }
  /// What islands were found in, and what was measured there.
  [[nodiscard]] const DetectionPlan<Exec, T>& detection() const { return m_detection; }
  /// None but with `AssumedNoise::measured`.
  [[nodiscard]] const std::optional<NoiseCorrelation>& noise() const { return m_noise; }
  /// What to know of the user's maps.
  [[nodiscard]] const std::vector<std::string>& notes() const { return m_given.notes(); }
  /// What --adaptive-rms did to the last image; empty without it.
  [[nodiscard]] std::string artefact_note() const {
    return m_artefacts ? m_artefacts->note() : std::string();
  }

 private:
  /// Finds islands above the present background, in the detection image if there is one.
  [[nodiscard]] IslandResult search(const ConstImage<T, Exec>& pixels, const io::FitsImage& image,
                                    UsablePixels<Exec>& masks) {
    about_image(m_options.detection.image ? m_given.detection_header() : image,
                [&] { m_detection.prepare(pixels, m_background, m_given.detection(), masks); });
    const auto* detection = m_detection.detection();
    IslandResult result;
    about_image(image, [&] {
      result = detection == nullptr
                   ? m_finder(pixels, m_background, masks.usable)
                   : m_finder(*detection, Bands<T, Exec>(&pixels, 1), m_background, masks.usable);
    });
    return result;
  }

  [[nodiscard]] bool splits() const { return m_options.components.deblends; }

  /// Finds the peaks of islands, and splits islands into them.
  void deblend(const ConstImage<T, Exec>& pixels, IslandResult& result) {
    if (!m_deblend) return;
    const auto* detection = m_detection.detection();
    if (detection == nullptr) {
      m_deblend->find_peaks(Bands<T, Exec>(&pixels, 1), m_background, result, m_finder);
    } else {
      const auto& peaks = *m_detection.for_peaks(m_usable);
      m_deblend->find_peaks(peaks.bands, peaks.background, result, m_finder);
    }
    if (!splits() && detection == nullptr) return;
    auto parts = m_deblend->split(pixels, m_background, m_usable, detection);
    if (splits()) result = std::move(parts);
  }

  /// What the columns of an island need beside the island.
  void measure(const ConstImage<T, Exec>& pixels, const IslandResult& result) {
    m_weights = m_given.weights_at(result.islands);
    m_kron.clear();
    if (!m_photometer) return;
    m_kron = (*m_photometer)(pixels, m_background, result.islands, labels(), negative_labels(),
                             m_usable);
  }

  void use_weights(const ConstImage<T, Exec>& pixels, const UsablePixels<Exec>& masks) {
    m_background.rms =
        (*m_weighted)(pixels, m_background.level, ConstImage<T, Exec>(m_given.root_weight),
                      ConstImage<T, Exec>(m_given.relative_noise), masks.excluded);
    m_mesh->rms = m_weighted->summary().rms;
  }

  [[nodiscard]] UsablePixels<Exec> usable_of(const ConstImage<T, Exec>& pixels) {
    const UsablePixels<Exec> given{m_given.usable, m_given.excluded};
    return m_options.detects_fill ? m_exclude_fill(pixels, given, m_options.find.seed) : given;
  }

  [[nodiscard]] BackgroundSummary summary() {
    try {
      return m_estimator->summary();
    } catch (const Error& error) {
      std::string why;
      for (const auto& note : fill_notes(fill())) why += (why.empty() ? " (" : "; ") + note;
      if (m_given.excluded.words.size() != 0)
        why += (why.empty() ? " (" : "; ") +
               std::string("--box, --mask and maps with blank pixels exclude pixels");
      if (why.empty()) throw;
      throw Error(error.what() + why + "; try a smaller --cell)");
    }
  }

  Exec m_space;
  IslandOptions m_options;
  std::int64_t m_ny, m_nx;
  GivenPixels<Exec, T> m_given;
  FillExcluder<Exec> m_exclude_fill;
  DetectionPlan<Exec, T> m_detection;
  std::optional<BackgroundEstimator<Exec, T>> m_estimator;
  std::optional<WeightedNoise<Exec, T>> m_weighted;
  Background<Exec, T> m_background;
  IslandFinder<Exec, T> m_finder;
  std::optional<KronPhotometer<Exec, T>> m_photometer;
  std::vector<KronFlux> m_kron;
  std::vector<double> m_weights;
  std::optional<ArtefactPass<Exec, T>> m_artefacts;
  std::optional<DeblendPass<Exec, T>> m_deblend;
  BitMask<Exec> m_usable;
  std::optional<BackgroundSummary> m_mesh;
  std::optional<NoiseCorrelation> m_noise;
};

}  // namespace kastor::cli

#endif
