// SPDX-License-Identifier: Apache-2.0
#ifndef KASTOR_APPS_FIND_IMAGE_FINDER_HPP
#define KASTOR_APPS_FIND_IMAGE_FINDER_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <kastor/image.hpp>
#include <kastor/source_finder.hpp>
#include <optional>
#include <type_traits>
#include <variant>

#include "cli/report/report.hpp"
#include "cli/report/steps.hpp"
#include "cli/run/outputs.hpp"
#include "find/component_outputs.hpp"
#include "find/component_plan.hpp"
#include "find/found_image.hpp"
#include "find/island_maps.hpp"
#include "find/island_plan.hpp"
#include "find/source_labels.hpp"

namespace kastor::cli {

/// Finds the sources of one image after another, by any preset, on one execution space instance.
/// Its work space is reused for images of the same shape and pixel type.
template <class Exec>
class ImageFinder {
 public:
  ImageFinder(const Exec& space, StepRecorder& steps) : m_space(space), m_steps(steps) {}

  /// Searches the pixels of the image whose header and options are in `image`, and adds the result
  /// to `image`. When it returns, the memory of the pixels may be reused. \throws kastor::Error and
  /// others
  template <class T>
  void operator()(const ConstImage<T, Exec>& pixels, FoundImage& image) {
    Work<T>& work = this->template work_for<T>();
    const auto start = std::chrono::steady_clock::now();
    if (image.options.islands.preset == Preset::lesson) {
      find_sources(work, pixels, image);
    } else {
      find_islands(work, pixels, image);
    }
    image.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// Releases the work space of the other pixel type; both would need twice the memory.
  template <class T>
  void prepare_for() {
    if constexpr (std::is_same_v<T, float>) {
      m_double = {};
    } else {
      m_float = {};
    }
  }
  /// Releases all work space, and waits until no kernel works on an image.
  void release() {
    m_float = {};
    m_double = {};
    m_space.fence("kastor::app: the image is free");
  }

  /// Writes the maps and labels that were asked for, for the last image searched.
  template <class T>
  void write_maps(const ConstImage<T, Exec>& pixels, const FoundImage& image,
                  const FindOutputs& outputs) {
    const auto maps = fits_maps_of(image.options);
    const auto is_wanted = [](const FitsMap& map) { return map.path.has_value(); };
    if (std::none_of(maps.begin(), maps.end(), is_wanted)) return;
    const ScopedStep step(m_steps, "maps");
    const Work<T>& work = this->template work_for<T>();
    if (const auto* found = std::get_if<FindResult>(&image.found)) {
      (void)write_source_labels(m_space, outputs.labels, image.image, work.sources->labels(),
                                *found, find_provenance(image.image, image.options));
    } else {
      MapFiles files{image, outputs};
      IslandMaps<Exec, T, MapFiles>{m_space, image, files}.fill(pixels, *work.islands);
    }
  }

  /// Gives `target` the maps that it wants, as `IslandMaps` does, of the last image searched; of
  /// the preset lesson the labels alone.
  template <class T, class Target>
  void fill_maps(const ConstImage<T, Exec>& pixels, const FoundImage& image, Target& target) {
    const Work<T>& work = this->template work_for<T>();
    if (!std::holds_alternative<FindResult>(image.found)) {
      IslandMaps<Exec, T, Target>{m_space, image, target}.fill(pixels, *work.islands);
    } else if (target.wants("--labels")) {
      const Image<std::int32_t, Exec> ids(
          Kokkos::view_alloc(m_space, Kokkos::WithoutInitializing, "kastor::app::labels"),
          pixels.extent(0), pixels.extent(1));
      write_labels<Exec, std::int32_t>(m_space, work.sources->labels(), ids);
      target.take("--labels", readable_on_host(m_space, ids), "");
    }
  }

 private:
  template <class T>
  struct Work {
    std::optional<SourceFinder<Exec, T>> sources;
    std::optional<IslandPlan<Exec, T>> islands;
    std::optional<ComponentPlan<Exec, T>> components;
  };

  template <class T>
  Work<T>& work_for() {
    this->template prepare_for<T>();
    if constexpr (std::is_same_v<T, float>) {
      return m_float;
    } else {
      return m_double;
    }
  }

  template <class T>
  void find_sources(Work<T>& work, const ConstImage<T, Exec>& pixels, FoundImage& image) {
    if (!work.sources) work.sources.emplace(m_space, image.options.find);
    const ScopedStep step(m_steps, "find");
    about_image(image.image, [&] {
      FindResult result = (*work.sources)(pixels);
      if (auto note = sky_note(image.options.find, result); !note.empty())
        image.notes.push_back(std::move(note));
      image.found = std::move(result);
    });
  }

  template <class T>
  void find_islands(Work<T>& work, const ConstImage<T, Exec>& pixels, FoundImage& image) {
    const IslandOptions& options = image.options.islands;
    const bool fits = image.options.fits_components();
    if (!work.islands || !work.islands->serves(options, image.image, fits)) {
      work.islands.reset();
      work.islands.emplace(m_space, options, image.image, fits);
    }
    IslandsAndMesh found;
    found.result = (*work.islands)(pixels, image.image, m_steps);
    found.mesh = work.islands->mesh();
    found.kron = work.islands->kron();
    found.weights = work.islands->weights();
    found.detection = work.islands->detection().summary();
    found.noise = work.islands->noise();
    if (options.components.deblends) {
      found.parents = work.islands->peaks()->parents();
      found.unsplit = work.islands->peaks()->islands().positive.islands;
    }
    if (fits) {
      const ScopedStep step(m_steps, "components");
      if (!work.components) work.components.emplace(m_space);
      about_image(image.image, [&] {
        found.fitted = (*work.components)(
            pixels, *work.islands,
            fit_params_of(image.options, image.sky, found.detection, found.noise));
      });
    }
    for (const auto& note : fill_notes(work.islands->fill())) image.notes.push_back(note);
    const auto& notes = work.islands->notes();
    image.notes.insert(image.notes.end(), notes.begin(), notes.end());
    const auto& on_detection = work.islands->detection().notes();
    image.notes.insert(image.notes.end(), on_detection.begin(), on_detection.end());
    if (auto note = work.islands->artefact_note(); !note.empty())
      image.notes.push_back(std::move(note));
    image.found = std::move(found);
  }

  Exec m_space;
  StepRecorder& m_steps;
  Work<float> m_float;
  Work<double> m_double;
};

}  // namespace kastor::cli

#endif
